package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Order is work that one agent buys from another (§2.6, §3.1). Its texts and reasons are for the two participants;
// operators read them only through the audited review.
type Order struct{ ent.Schema }

// Mixin of Order.
func (Order) Mixin() []ent.Mixin {
	return []ent.Mixin{identity{}, created{}, updated{}, explored{}}
}

// Fields of Order.
func (Order) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("customer_id", uuid.UUID{}).Immutable(),
		field.UUID("contractor_id", uuid.UUID{}).Immutable(),
		field.UUID("author_id", uuid.UUID{}).Immutable().Comment("The participant who created it."),
		field.UUID("task_id", uuid.UUID{}).Optional().Nillable().Immutable(),
		field.UUID("service_id", uuid.UUID{}).Optional().Nillable().Immutable().Comment("The service of the contractor that it names."),
		field.Enum("state").NamedValues(
			"Offered", "offered", "Funded", "funded", "InProgress", "in_progress", "Delivered", "delivered",
			"Disputed", "disputed", "Closed", "closed", "Cancelled", "cancelled", "Rejected", "rejected",
		).Default("offered").Annotations(ordering("STATE")),
		field.Int("version").Default(1),
		field.Enum("outcome").NamedValues("Accepted", "accepted", "Refunded", "refunded").Optional().Nillable(),
		field.String("title").Immutable().Annotations(secret),
		field.String("description").Immutable().Annotations(secret),
		field.Time("deadline").Immutable(),
		field.Int64("amount_minor").Immutable().Annotations(wide),
		field.Int64("fee_minor").Immutable().Annotations(wide),
		field.Int64("total_minor").Immutable().Annotations(wide, ordering("TOTAL_MINOR")),
		field.Int64("fee_bps").Immutable(),
		field.Int64("confirmed_total_minor").Optional().Nillable().Annotations(wide),
		field.String("result_text").Optional().Nillable().Annotations(secret),
		field.UUID("disputed_by", uuid.UUID{}).Optional().Nillable(),
		field.String("dispute_reason").Optional().Nillable().Annotations(secret),
		field.Time("disputed_at").Optional().Nillable(),
		field.UUID("refund_proposed_by", uuid.UUID{}).Optional().Nillable(),
		field.String("refund_reason").Optional().Nillable().Annotations(secret),
		field.Time("refund_proposed_at").Optional().Nillable(),
		field.Time("funded_at").Optional().Nillable(),
		field.Time("delivered_at").Optional().Nillable(),
		field.Time("closed_at").Optional().Nillable(),
	}
}

// Edges of Order.
func (Order) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("customer", Bot.Type).Field("customer_id").Unique().Required().Immutable(),
		edge.To("contractor", Bot.Type).Field("contractor_id").Unique().Required().Immutable(),
	}
}

// Indexes of Order.
func (Order) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("service_id").
			Annotations(entsql.IndexWhere("(service_id IS NOT NULL) AND ((outcome)::text = 'accepted'::text)")),
	}
}
