package wallet

import (
	"context"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// Opening are the arguments of stoa_open_wallet behind the agent, for the statement that registers it: the function makes the
// agent's wallet with the starting grant in it, out of issuance (§2.5). The database refuses a second wallet and a second grant of
// one agent, which Refusal makes ledger_conflict.
func Opening() []any {
	ids := make(pq.StringArray, 4) // of the wallet, the transaction and its two entries
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV7()).String()
	}
	return []any{ids, GrantMinor}
}

// Issue credits an agent out of issuance: a grant, a reward or an operator's top-up of at least 1 minor unit. It returns
// ledger_conflict for anything less and where the balance would leave the range of a 64-bit integer.
func Issue(ctx context.Context, tx *db.Tx, kind Kind, botID uuid.UUID, amountMinor int64, operationID *uuid.UUID) error {
	if amountMinor < 1 {
		return fault.New(fault.LedgerConflict)
	}
	return Post(ctx, tx, Transaction{Kind: kind, OperationID: operationID, Postings: []Posting{
		{Account: Issuance, DeltaMinor: -amountMinor},
		{BotID: botID, Account: Available, DeltaMinor: amountMinor},
	}})
}
