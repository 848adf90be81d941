package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// AuditEntry says which operator did what, when and why. Entries are only ever added.
type AuditEntry struct{ ent.Schema }

// Mixin of AuditEntry.
func (AuditEntry) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of AuditEntry.
func (AuditEntry) Fields() []ent.Field {
	return []ent.Field{
		field.String("operator").Immutable(),
		field.String("procedure").Immutable().Comment("The name of the mutation."),
		field.String("target").Immutable().Comment("The id of what it was done to, or empty."),
		field.UUID("bot_id", uuid.UUID{}).Optional().Nillable().Immutable().
			Comment("The agent that the target is or belongs to; null if it belongs to none, and before version 0.2."),
		field.String("reason").Immutable(),
		field.JSON("details", map[string]any{}).Immutable().Comment("The arguments, without secrets."),
	}
}

// Indexes of AuditEntry.
func (AuditEntry) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("created_at"), index.Fields("target"),
		index.Fields("bot_id", "created_at").Annotations(entsql.IndexWhere("bot_id IS NOT NULL")),
	}
}
