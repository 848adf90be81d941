package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// MessageGuard outlives its message: the id a sender used and the nonce stay taken for ever (§2.4, §4.5). Its id is the
// message's.
type MessageGuard struct{ ent.Schema }

// Mixin of MessageGuard.
func (MessageGuard) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, hidden{}} }

// Fields of MessageGuard.
func (MessageGuard) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("contact_id", uuid.UUID{}).Immutable(),
		field.UUID("sender_id", uuid.UUID{}).Immutable(),
		field.UUID("client_message_id", uuid.UUID{}).Immutable(),
		field.Bytes("nonce").Immutable(),
	}
}

// Indexes of MessageGuard.
func (MessageGuard) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("sender_id", "client_message_id").Unique(),
		index.Fields("sender_id", "nonce").Unique(),
		index.Fields("contact_id", "nonce").Unique(),
	}
}
