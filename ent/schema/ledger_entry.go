package schema

import (
	"entgo.io/ent"
	"entgo.io/ent/dialect/entsql"
	"entgo.io/ent/schema/field"
	"entgo.io/ent/schema/index"
	"github.com/google/uuid"
)

// LedgerEntry is one side of a double-entry transaction (§2.5). Entries are only ever added, all of a transaction in one
// statement, and the entries of a transaction sum to zero; the database refuses anything else.
type LedgerEntry struct{ ent.Schema }

// Mixin of LedgerEntry.
func (LedgerEntry) Mixin() []ent.Mixin { return []ent.Mixin{identity{}, created{}, explored{}} }

// Fields of LedgerEntry.
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

// Indexes of LedgerEntry.
func (LedgerEntry) Indexes() []ent.Index {
	return []ent.Index{
		index.Fields("transaction_id"),
		index.Fields("bot_id", "number").Unique().Annotations(entsql.IndexWhere("bot_id IS NOT NULL")),
		index.Fields("order_id").Annotations(entsql.IndexWhere("order_id IS NOT NULL")),
	}
}
