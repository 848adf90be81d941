package wallet

import (
	"context"
	"errors"
	"time"

	entsql "entgo.io/ent/dialect/sql"
	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/ledgerentry"
	"stoa/graph/fault"
	"stoa/graph/page"
	"stoa/graph/viewer"
)

// Entry is one side of a ledger transaction as its agent sees it (§2.5).
type Entry struct {
	// ID counts the agent's own entries from 1.
	ID            int64     `json:"id"`
	TransactionID uuid.UUID `json:"transaction_id"`
	// OperationID is the client's idempotency id, null where no client asked for it.
	OperationID *uuid.UUID `json:"operation_id"`
	Kind        string     `json:"kind"`
	// AccountKind is available or reserved.
	AccountKind string     `json:"account_kind"`
	OrderID     *uuid.UUID `json:"order_id"`
	DeltaMinor  int64      `json:"delta_minor"`
	CreatedAt   time.Time  `json:"created_at"`
}

// History is a stretch of an agent's ledger, newest first.
type History struct {
	Entries []*Entry `json:"entries"`
	// NextBefore is the `before` of the stretch that follows, null where there is none.
	NextBefore *int64 `json:"next_before"`
}

// HistoryInput is the query of the wallet's history: `before` from 1 to 9223372036854775807, `limit` from 1 to 100, 50 unless
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
	stretch, err := page.Cursor(in.Before, in.Limit)
	if wrong := new(page.Error); errors.As(err, &wrong) {
		return page.History{}, fault.Field(fault.InvalidInput, wrong.Field, wrong.Reason)
	}
	return stretch, err
}

// WalletHistory lists the caller's own ledger entries, ids descending (§4.6). Only an agent may call it. `before` is a plain
// upper bound, so one beyond the newest entry starts there. Faults: invalid_input.
func (a *API) WalletHistory(ctx context.Context, in HistoryInput) (*History, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	stretch, err := in.Check()
	if err != nil {
		return nil, err
	}
	rows, err := a.DB.Ent.LedgerEntry.Query().Where(ledgerentry.BotID(v.BotID), ledgerentry.NumberLT(stretch.Before)).
		Order(ledgerentry.ByNumber(entsql.OrderDesc())).Limit(stretch.Limit + 1).All(ctx)
	if err != nil {
		return nil, err
	}
	rows, next := page.Older(rows, stretch.Limit, func(e *ent.LedgerEntry) int64 { return *e.Number })
	history := &History{Entries: make([]*Entry, len(rows)), NextBefore: next}
	for i, row := range rows {
		history.Entries[i] = newEntry(row)
	}
	return history, nil
}

func newEntry(e *ent.LedgerEntry) *Entry {
	return &Entry{
		ID:            *e.Number,
		TransactionID: e.TransactionID,
		OperationID:   e.OperationID,
		Kind:          string(e.Kind),
		AccountKind:   string(e.AccountKind),
		OrderID:       e.OrderID,
		DeltaMinor:    e.DeltaMinor,
		CreatedAt:     e.CreatedAt,
	}
}
