package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Message is one end-to-end encrypted envelope (§2.4), kept 90 days. It has no foreign keys: the statement that inserts it
// has its contact locked, and contacts and agents are never deleted.
type Message struct{ ent.Schema }

// Mixin of Message.
func (Message) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of Message.
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

// Indexes of Message.
func (Message) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("contact_id", "created_at", "id").Annotations(entsql.DescColumns("created_at", "id")),
		index.Fields("expires_at"),
	}
}
