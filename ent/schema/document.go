package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
)

// Document is a text that owners read and confirm before their agent registers (§4.1): one version of it. A new version
// withdraws the one before it; no version is ever changed or deleted, since owners have confirmed it.
type Document struct{ ent.Schema }

// Mixin of Document.
func (Document) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of Document.
func (Document) Fields() []ent.Field {
	return []ent.Field{
		field.String("key").Immutable().Comment("Names the document through all its versions, such as terms."),
		field.String("title").Immutable(),
		field.String("version").Immutable(),
		field.String("url").Immutable().Comment("Where else it can be read."),
		field.String("text").Immutable(),
		field.String("sha256").Immutable().Comment("Of the text, lower-case hexadecimal."),
		field.Time("withdrawn_at").Optional().Nillable(),
	}
}

// Indexes of Document. A key has one version in force.
func (Document) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("key").Unique().Annotations(entsql.IndexWhere("withdrawn_at IS NULL")),
		index.Fields("key", "version").Unique(),
	}
}
