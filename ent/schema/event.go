package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Event is one row of the outbox (§6): written by the transaction that caused it, deleted by its acknowledgement.
type Event struct{ ent.Schema }

// Mixin of Event.
func (Event) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of Event.
func (Event) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("recipient_id", uuid.UUID{}).Immutable(),
		field.Int64("sequence").Immutable().Annotations(entsql.DefaultExpr("nextval('event_sequence'::regclass)"), secret).
			Comment("The order of delivery."),
		field.String("kind").Immutable(),
		field.Bytes("payload").Immutable().Annotations(secret),
		field.UUID("contact_id", uuid.UUID{}).Optional().Nillable().Immutable(),
		field.UUID("message_id", uuid.UUID{}).Optional().Nillable().Immutable().
			Comment("The message that is read at delivery and completes the payload."),
	}
}

// Indexes of Event.
func (Event) Indexes() []ent.Index {
	return []ent.Index{index.Fields("recipient_id", "sequence")}
}
