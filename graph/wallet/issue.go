package wallet

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/db"
	"stoa/graph/fault"
)

// Open makes the wallet of a new agent and credits the starting grant, in the transaction that registers it (§2.5).
// The database refuses a second grant for the same agent.
func Open(ctx context.Context, tx *db.Tx, botID uuid.UUID) error {
	now, err := tx.Now(ctx)
	if err != nil {
		return err
	}
	if err := tx.Ent.Account.Create().SetBotID(botID).SetCreatedAt(now).Exec(ctx); err != nil {
		return err
	}
	return Issue(ctx, tx, Grant, botID, GrantMinor, nil)
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
