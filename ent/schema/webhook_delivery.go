package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// WebhookDelivery is one attempt to deliver an event to a webhook, as it ended (§4.12).
type WebhookDelivery struct{ ent.Schema }

// Mixin of WebhookDelivery.
func (WebhookDelivery) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of WebhookDelivery.
func (WebhookDelivery) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("webhook_id", uuid.UUID{}).Immutable(),
		field.UUID("event_id", uuid.UUID{}).Immutable(),
		field.String("kind").Immutable(),
		field.Int("attempt").Positive().Immutable(),
		field.Int("status").Optional().Nillable().Immutable().Comment("The HTTP status of the answer; null: there was none."),
		field.String("error").Default("").Immutable().Comment("Why it failed; empty: it was acknowledged."),
		field.Time("next_attempt_at").Optional().Nillable().Immutable(),
	}
}

// Edges of WebhookDelivery.
func (WebhookDelivery) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("webhook", Webhook.Type).Field("webhook_id").Unique().Required().Immutable().
			Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

// Indexes of WebhookDelivery.
func (WebhookDelivery) Indexes() []ent.Index {
	return []ent.Index{index.Fields("webhook_id", "created_at"), index.Fields("created_at")}
}
