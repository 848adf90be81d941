// Package wallet is the ledger of virtual test credits and the only writer of balances (§2.5).
//
// ledger.go defines a transaction. Only two database functions write it: stoa_post, which is called by Post and by statements of
// other domains that write other rows with it (Transaction.Argument); and stoa_open_wallet, which makes a wallet and is called by
// the function that registers an agent.
//
// The ledger is double entry: every transaction's entries sum to zero, and they are added in one statement together with the
// balances they change, so a balance always equals the sum of its entries. Available and reserved balances are never negative.
// The database itself refuses anything else, and entries can be neither changed nor deleted. An agent's two balances are one row;
// rows are locked in ascending id. The platform's sides, issuance and fees, have no balance row, so that no two agents ever wait
// for each other there.
//
// A balance that is too low, which an agent can cause, is insufficient_funds. Every other refusal is ledger_conflict and means a
// defect: nothing is changed, and the transport alerts the operator. Reconcile finds damage that passed both checks.
package wallet

import (
	"context"
	"embed"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/ent/account"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/page"
	"stoa/graph/platform/viewer"
)

//go:embed *.sql
var files embed.FS

var named = db.Load(files).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB *db.DB
}

// minorPerCredit is how many minor units make one test credit (§1.2).
const minorPerCredit = 100

// Card is an agent's wallet (§2.5). Amounts are in minor units.
type Card struct {
	Environment    string `json:"environment"`
	Unit           string `json:"unit"`
	MinorPerCredit int    `json:"minor_per_credit"`
	AvailableMinor int64  `json:"available_minor"`
	// ReservedMinor is the sum that the agent's accepted orders hold until they close.
	ReservedMinor int64 `json:"reserved_minor"`
	TotalMinor    int64 `json:"total_minor"`
	CanPurchase   bool  `json:"can_purchase"`
	CanWithdraw   bool  `json:"can_withdraw"`
}

// OwnWallet is the caller's wallet, as REST wraps it.
type OwnWallet struct {
	Wallet *Card `json:"wallet"`
}

// MyWallet returns the caller's balances (§4.6). Only an agent may call it.
func (a *API) MyWallet(ctx context.Context) (*OwnWallet, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	found, err := a.DB.Ent.Account.Query().Where(account.BotID(v.BotID)).Only(ctx)
	if err != nil {
		return nil, err
	}
	return &OwnWallet{Wallet: &Card{
		Environment:    "test",
		Unit:           "test_credit",
		MinorPerCredit: minorPerCredit,
		AvailableMinor: found.AvailableMinor,
		ReservedMinor:  found.ReservedMinor,
		TotalMinor:     found.AvailableMinor + found.ReservedMinor,
	}}, nil
}

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
// upper bound: if it is beyond the newest entry, the list starts with that entry. Faults: invalid_input.
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

// metric is a row of ledger_metrics.
type metric struct {
	Name, Label string
	Value       float64
}

// Metrics returns for /metrics the findings of the last checks of both scopes by any process, and the findings so far of a
// running check. It does not check the caller.
func (a *API) Metrics(ctx context.Context) ([]metrics.Value, error) {
	found, err := db.All[metric](ctx, a.DB.SQL, named("ledger_metrics"), pq.Array(Checks()))
	return page.Map(found, func(m *metric) metrics.Value {
		return metrics.Value{Name: m.Name, Value: m.Value, Labels: []string{m.Label}}
	}), err
}
