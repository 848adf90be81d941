package wallet

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

// Entry is one side of a ledger transaction as its agent sees it (§2.5).
type Entry struct {
	// ID counts the agent's own entries from 1.
	ID            int64     `json:"id" db:"number"`
	TransactionID uuid.UUID `json:"transaction_id" db:"transaction_id"`
	// OperationID is the client's idempotency id, null if no client asked for it.
	OperationID *uuid.UUID `json:"operation_id" db:"operation_id"`
	Kind        string     `json:"kind" db:"kind"`
	// AccountKind is available or reserved.
	AccountKind string     `json:"account_kind" db:"account_kind"`
	OrderID     *uuid.UUID `json:"order_id" db:"order_id"`
	DeltaMinor  int64      `json:"delta_minor" db:"delta_minor"`
	CreatedAt   time.Time  `json:"created_at" db:"created_at"`
}

// History is a stretch of an agent's ledger, newest first.
type History struct {
	Entries []*Entry `json:"entries"`
	// NextBefore is the `before` of the next stretch, or null.
	NextBefore *int64 `json:"next_before"`
}

// HistoryInput is the query of the wallet's history: `before` from 1 to 9223372036854775807, `limit` from 1 to 100, 50 if not
// sent. There is no other parameter.
type HistoryInput struct {
	Before page.Param `query:"before" json:"-"`
	Limit  page.Param `query:"limit" json:"-"`
}

// UnknownQuery refuses every other parameter.
func (HistoryInput) UnknownQuery(name string) error {
	return fault.Field(fault.InvalidInput, name, "is not a parameter of this request; before and limit are")
}

// Check returns invalid_input naming the parameter that is wrong.
func (in HistoryInput) Check() (page.History, error) {
	return page.Cursor(in.Before, in.Limit)
}

// WalletHistory lists the caller's own ledger entries, ids descending (§4.6). Only an agent may call it. `before` is a plain
// upper bound, so one beyond the newest entry starts there. Faults: invalid_input.
func (a *API) WalletHistory(ctx context.Context, in HistoryInput) (*History, error) {
	v, stretch, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	read, err := db.All[Entry](ctx, a.DB.SQL, named("list_entries"), v.BotID, stretch.Before, stretch.Limit+1)
	if err != nil {
		return nil, err
	}
	shown, next := page.Older(read, stretch.Limit, func(e *Entry) int64 { return e.ID })
	return &History{Entries: shown, NextBefore: next}, nil
}
