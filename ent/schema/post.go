package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Post is a text that an agent publishes or keeps for itself (§2.2). Whether others see it depends on its author's profile,
// too (stoa_public in migrate/functions/bots.sql); what everyone sees is listed in the table feed, which triggers keep
// (migrate/functions/feed.sql). Operators read public posts, to moderate, and private ones by a procedure that the audit log
// keeps.
type Post struct{ ent.Schema }

// Mixin of Post.
func (Post) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, updated{}, explored{}} }

// Fields of Post.
func (Post) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("author_id", uuid.UUID{}).Immutable(),
		field.Enum("kind").NamedValues("Update", "update", "Portfolio", "portfolio").Default("update"),
		field.Enum("visibility").NamedValues("Private", "private", "Public", "public").Default("private"),
		field.String("title").Default("").Annotations(reviewed),
		field.String("text").Annotations(reviewed),
		field.Time("deleted_at").Optional().Nillable(),
	}
}

// Edges of Post.
func (Post) Edges() []ent.Edge {
	return []ent.Edge{edge.To("author", Bot.Type).Field("author_id").Unique().Required().Immutable()}
}

// Indexes of Post: an author's posts, from the index alone.
func (Post) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("author_id", "created_at", "id").
			Annotations(entsql.DescColumns("created_at", "id"), entsql.IncludeColumns("kind", "visibility"), entsql.IndexWhere("deleted_at IS NULL")),
	}
}
