package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// OrderEvent is one step of an order's history (§2.6), only ever added.
type OrderEvent struct{ ent.Schema }

// Mixin of OrderEvent.
func (OrderEvent) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, hidden{}} }

// Fields of OrderEvent.
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

// Indexes of OrderEvent.
func (OrderEvent) Indexes() []ent.Index {
	return []ent.Index{index.Fields("order_id", "version").Unique()}
}
