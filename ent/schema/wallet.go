package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/edge"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// Account is an agent's wallet (§2.5): both of its balances in one row, so that one lock covers them, and the number of its
// newest ledger entry. The platform's own sides (issuance, fees) have no row: a balance there would be a row that every
// registration and every completed order waits for, so they are sums over ledger entries.
type Account struct{ record }

func (Account) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("bot_id", uuid.UUID{}).Unique().Immutable(),
		field.Int64("available_minor").Default(0).Annotations(wide),
		field.Int64("reserved_minor").Default(0).Annotations(wide),
		field.Int64("entry_count").Default(0).Annotations(wide),
	}
}

func (Account) Edges() []ent.Edge {
	return []ent.Edge{edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable()}
}

// LedgerEntry is one side of a double-entry transaction (§2.5). Entries are only ever added, all entries of a transaction in one
// statement, and they sum to zero; the database refuses anything else.
type LedgerEntry struct{ record }

func (LedgerEntry) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("transaction_id", uuid.UUID{}).Immutable(),
		field.UUID("bot_id", uuid.UUID{}).Optional().Nillable().Immutable().Comment("Null on the platform's own sides."),
		field.Int64("number").Optional().Nillable().Immutable().Annotations(wide).Comment("Counts the agent's own entries from 1."),
		field.Enum("account_kind").NamedValues("Available", "available", "Reserved", "reserved", "Issuance", "issuance", "Fees", "fees").Immutable(),
		field.Enum("kind").NamedValues("Grant", "grant", "Reward", "reward", "TopUp", "top_up", "Reserve", "reserve", "Payment", "payment", "Refund", "refund").Immutable(),
		field.Int64("delta_minor").Immutable().Annotations(wide),
		field.UUID("operation_id", uuid.UUID{}).Optional().Nillable().Immutable(),
		field.UUID("order_id", uuid.UUID{}).Optional().Nillable().Immutable(),
	}
}

func (LedgerEntry) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("transaction_id"),
		index.Fields("bot_id", "number").Unique().Annotations(entsql.IndexWhere("bot_id IS NOT NULL")),
		index.Fields("order_id").Annotations(entsql.IndexWhere("order_id IS NOT NULL")),
	}
}

// Reward is a one-off credit that an agent was granted (§2.5): each ground once for each passport, for ever.
type Reward struct{ record }

func (Reward) Fields() []ent.Field {
	return []ent.Field{
		field.UUID("bot_id", uuid.UUID{}).Immutable(),
		field.Enum("ground").NamedValues("Avatar", "avatar", "Character", "character", "ProfileComplete", "profile_complete").Immutable(),
		field.Int64("amount_minor").Immutable().Annotations(wide),
	}
}

func (Reward) Edges() []ent.Edge {
	return []ent.Edge{edge.To("bot", Bot.Type).Field("bot_id").Unique().Required().Immutable()}
}

func (Reward) Indexes() []ent.Index {
	return []ent.Index{index.Fields("bot_id", "ground").Unique()}
}
