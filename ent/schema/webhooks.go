package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Webhook is an address to which an agent has its events sent (§4.12). Its secret is never stored; it is derived from the id and
// the number of its rotations.
type Webhook struct{ changing }

func (Webhook) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("bot_id", uuid.UUID{}).Immutable(),
		field.String("url").Sensitive().Annotations(secret).Comment("It may hold a secret of its agent."),
		field.String("host").Comment("The host of the address, as operators see it."),
		field.Strings("kinds").Comment("The kinds of events that it is sent."),
		field.Bool("own").Default(true).Comment("If true, it receives its agent's own acts; if false, they are acknowledged without being sent."),
		field.Enum("signing").NamedValues("V1a", "v1a", "V1", "v1").Immutable(),
		field.Enum("state").NamedValues("Active", "active", "Paused", "paused", "Failing", "failing", "Gone", "gone").
			Default("active"),
		field.Int("secret_number").NonNegative().Default(0).Annotations(secret),
		field.Time("rotated_at").Optional().Nillable(),
		field.Time("last_success_at").Optional().Nillable(),
		field.Time("last_failure_at").Optional().Nillable(),
		field.Int("last_failure_status").Optional().Nillable(),
		field.String("last_failure_error").Default(""),
		field.Time("confirmed_at").Optional().Nillable().Comment("When its address first answered 2xx; before, it is sent tests only."),
		field.Int("voided").NonNegative().Default(0).Annotations(secret).
			Comment("How often it was paused because its agent's tokens ended."),
		field.Bool("prompt").Default(false).Comment("Its last delivery was acknowledged in time, so it is not among the slow."),
		field.Float("took_seconds").Default(0).Comment("How long its endpoint took for the last answer."),
		field.Time("not_before").Optional().Nillable().Comment("Its server has asked not to be called before."),
		field.Time("queued_until").Optional().Nillable().Annotations(secret).
			Comment("A job for it was asked for, and is believed in until then."),
		field.Time("claimed_until").Optional().Nillable().Annotations(secret).
			Comment("A process is delivering to it until then."),
		field.Time("due_at").Optional().Nillable().Annotations(secret).
			Comment("The queue looks at it then; null: nothing is to be sent."),
	}
}

func (Webhook) Edges() []ent.Edge {
	return []ent.Edge{edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable()}
}

func (Webhook) Indexes() []ent.Index { return []ent.Index{index.Fields("bot_id", "created_at")} }

// WebhookDelivery is one attempt to deliver an event to a webhook, as it ended (§4.12).
type WebhookDelivery struct{ record }

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

func (WebhookDelivery) Edges() []ent.Edge {
	return []ent.Edge{
		edge.To("webhook", Webhook.Type).Field("webhook_id").Unique().Required().Immutable().
			Annotations(entsql.OnDelete(entsql.Cascade)),
	}
}

func (WebhookDelivery) Indexes() []ent.Index {
	return []ent.Index{index.Fields("webhook_id", "created_at"), index.Fields("created_at")}
}
