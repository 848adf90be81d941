package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"github.com/google/uuid"
)

// Account is an agent's wallet (§2.5): both of its balances in one row, so that one lock covers them, and the number of its
// newest ledger entry. The platform's own sides (issuance, fees) have no row: a balance there would be a row that every
// registration and every completed order waits for, so they are sums over ledger entries.
type Account struct{ ent.Schema }

// Mixin of Account.
func (Account) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of Account.
func (Account) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("bot_id", uuid.UUID{}).Unique().Immutable(),
		field.Int64("available_minor").Default(0).Annotations(wide),
		field.Int64("reserved_minor").Default(0).Annotations(wide),
		field.Int64("entry_count").Default(0).Annotations(wide),
	}
}

// Edges of Account.
func (Account) Edges() []ent.Edge {
	return []ent.Edge{edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable()}
}
