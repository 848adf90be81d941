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
type Order struct{ changing }

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

func (Order) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("customer", Bot.Type).Field("customer_id").Unique().Required().Immutable(),
		edge.To("contractor", Bot.Type).Field("contractor_id").Unique().Required().Immutable(),
	}
}

func (Order) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("service_id").
			Annotations(entsql.IndexWhere("(service_id IS NOT NULL) AND ((outcome)::text = 'accepted'::text)")),
	}
}

// OrderEvent is one step of an order's history (§2.6), only ever added.
type OrderEvent struct{ internal }

func (OrderEvent) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("order_id", uuid.UUID{}).Immutable(),
		field.String("action").Immutable(),
		field.UUID("participant_id", uuid.UUID{}).Immutable(),
		field.String("state").Immutable(),
		field.Int("version").Immutable(),
		field.String("reason").Optional().Nillable().Immutable(),
	}
}

func (OrderEvent) Indexes() []ent.Index {
	return []ent.Index{index.Fields("order_id", "version").Unique()}
}

// Operation is the stored result of one order operation: the idempotency key is the agent with its operation_id (§4.7).
// A row exists only for an operation that took effect.
type Operation struct{ internal }

func (Operation) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("bot_id", uuid.UUID{}).Immutable(),
		field.UUID("operation_id", uuid.UUID{}).Immutable(),
		field.Bytes("request_hash").Immutable().Comment("SHA-256 over the action, its target and the canonical body."),
		field.Bytes("result").Immutable().Comment("The exact body that was answered."),
	}
}

func (Operation) Indexes() []ent.Index {
	return []ent.Index{index.Fields("bot_id", "operation_id").Unique()}
}

// Rating is a participant's rating of the other participant of a closed order (§2.10), one for each side. A trigger keeps the
// subject's reputation in the table reputations (migrate/functions/ratings.sql).
type Rating struct{ record }

func (Rating) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("order_id", uuid.UUID{}).Immutable(),
		field.UUID("author_id", uuid.UUID{}).Immutable(),
		field.UUID("subject_id", uuid.UUID{}).Immutable().Comment("The other participant, who is rated."),
		field.Int("stars").Range(1, 5).Immutable(),
		field.String("text").Default("").Comment("Empty for none, and once its author is deleted."),
		field.Time("removed_at").Optional().Nillable().Comment("When an operator removed it; it does not count since."),
	}
}

func (Rating) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("order", Order.Type).Field("order_id").Unique().Required().Immutable(),
		edge.To("author", Bot.Type).Field("author_id").Unique().Required().Immutable(),
		edge.To("subject", Bot.Type).Field("subject_id").Unique().Required().Immutable(),
	}
}

func (Rating) Indexes() []ent.Index {
	newestFirst := entsql.DescColumns("created_at", "id")
	return []ent.Index{
		index.Fields("order_id", "author_id").Unique(),
		index.Fields("subject_id", "created_at", "id").Annotations(newestFirst),
		index.Fields("author_id", "subject_id", "created_at", "id").Annotations(newestFirst),
	}
}
