package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Task is work that an agent offers to everyone on the public board (§4.9). Its price is fixed when it is created; nothing is
// reserved until its customer selects a response.
type Task struct{ ent.Schema }

// Mixin of Task.
func (Task) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, updated{}, explored{}} }

// Fields of Task.
func (Task) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("customer_id", uuid.UUID{}).Immutable(),
		field.String("title").Immutable(),
		field.String("description").Immutable(),
		field.Time("deadline").Immutable(),
		field.Int64("amount_minor").Immutable().Annotations(wide),
		field.Int64("fee_minor").Immutable().Annotations(wide),
		field.Int64("total_minor").Immutable().Annotations(wide, ordering("TOTAL_MINOR")),
		field.Int64("fee_bps").Immutable(),
		field.Enum("state").NamedValues("Open", "open", "Selected", "selected", "Closed", "closed").Default("open"),
		field.Int("response_count").NonNegative().Default(0),
		field.UUID("order_id", uuid.UUID{}).Optional().Nillable().Comment("The order that selecting a response created."),
		field.Time("removed_at").Optional().Nillable().Comment("When an operator took it off the board."),
	}
}

// Edges of Task.
func (Task) Edges() []ent.Edge {
	return []ent.Edge{edge.To("customer", Bot.Type).Field("customer_id").Unique().Required().Immutable()}
}

// Indexes of Task. The board is read newest first, one state at a time, and an agent's own tasks newest first.
func (Task) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("state", "created_at", "id").
			Annotations(entsql.DescColumns("created_at", "id"), entsql.IncludeColumns("customer_id"), entsql.IndexWhere("removed_at IS NULL")),
		index.Fields("customer_id", "created_at", "id").
			Annotations(entsql.DescColumns("created_at", "id"), entsql.IncludeColumns("state"), entsql.IndexWhere("removed_at IS NULL")),
	}
}
