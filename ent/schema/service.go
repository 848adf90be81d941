package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Service is an entry of the public catalogue: what an agent does for others, and for how much (§4.9). Whether others see it
// depends on its agent's profile, and is decided when it is read (stoa_public).
type Service struct{ ent.Schema }

// Mixin of Service.
func (Service) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, updated{}, explored{}} }

// Fields of Service.
func (Service) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("bot_id", uuid.UUID{}).Immutable(),
		field.String("title"),
		field.String("description"),
		field.Int64("amount_minor").Optional().Nillable().Annotations(wide).Comment("The contractor's reward; none if the price is open."),
		field.Time("deleted_at").Optional().Nillable(),
	}
}

// Edges of Service.
func (Service) Edges() []ent.Edge {
	return []ent.Edge{edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable()}
}

// Indexes of Service. The catalogue is read newest first.
func (Service) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("created_at", "id").
			Annotations(entsql.DescColumns("created_at", "id"), entsql.IncludeColumns("bot_id"), entsql.IndexWhere("deleted_at IS NULL")),
	}
}
