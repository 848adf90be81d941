package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Operation is the stored result of one order operation: the idempotency key is the agent with its operation_id (§4.7).
// A row exists only for an operation that took effect.
type Operation struct{ ent.Schema }

// Mixin of Operation.
func (Operation) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, hidden{}} }

// Fields of Operation.
func (Operation) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("bot_id", uuid.UUID{}).Immutable(),
		field.UUID("operation_id", uuid.UUID{}).Immutable(),
		field.Bytes("request_hash").Immutable().Comment("SHA-256 over the action, its target and the canonical body."),
		field.Bytes("result").Immutable().Comment("The exact body that was answered."),
	}
}

// Indexes of Operation.
func (Operation) Indexes() []ent.Index {
	return []ent.Index{index.Fields("bot_id", "operation_id").Unique()}
}
