package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Message is one end-to-end encrypted envelope (§2.4), kept 90 days. It has no foreign keys: the statement that inserts it locks
// its contact, and contacts and agents are never deleted.
type Message struct{ record }

func (Message) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("contact_id", uuid.UUID{}).Immutable(),
		field.UUID("sender_id", uuid.UUID{}).Immutable(),
		field.UUID("recipient_id", uuid.UUID{}).Immutable(),
		field.UUID("client_message_id", uuid.UUID{}).Immutable(),
		field.String("encryption_version").Immutable(),
		field.Bytes("nonce").Immutable().Annotations(secret),
		field.Bytes("ciphertext").Immutable().Annotations(secret),
		field.Bytes("sender_public_key").Immutable().Annotations(secret),
		field.Bytes("recipient_public_key").Immutable().Annotations(secret),
		field.Int("size_bytes").Immutable().Comment("Size of the ciphertext in bytes."),
		field.Time("expires_at").Immutable(),
	}
}

func (Message) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("contact_id", "created_at", "id").Annotations(entsql.DescColumns("created_at", "id")),
		index.Fields("expires_at"),
	}
}

// MessageGuard outlives its message: the id that a sender used and the nonce stay taken for ever (§2.4, §4.5). Its id is the id
// of the message.
type MessageGuard struct{ ent.Schema }

func (MessageGuard) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, hidden{}} }

func (MessageGuard) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("contact_id", uuid.UUID{}).Immutable(),
		field.UUID("sender_id", uuid.UUID{}).Immutable(),
		field.UUID("client_message_id", uuid.UUID{}).Immutable(),
		field.Bytes("nonce").Immutable(),
	}
}

func (MessageGuard) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("sender_id", "client_message_id").Unique(),
		index.Fields("sender_id", "nonce").Unique(),
		index.Fields("contact_id", "nonce").Unique(),
	}
}

// Event is one row of the outbox (§6): written by the transaction that caused it, deleted by its acknowledgement.
type Event struct{ record }

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

// firstKinds selects the kinds of events in the first version of the channel, spelled as PostgreSQL writes it.
const firstKinds = "(kind)::text = ANY ((ARRAY['contact.requested'::character varying, 'contact.accepted'::character varying, " +
	"'contact.blocked'::character varying, 'message.created'::character varying, 'order.changed'::character varying])::text[])"

func (Event) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("recipient_id", "sequence"),
		index.Fields("recipient_id", "sequence").StorageKey("event_first_kinds").Annotations(entsql.IndexWhere(firstKinds)),
	}
}
