package wallet

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// lastID is not smaller than any id.
var lastID = uuid.Max

// phase is one walk over a table in slices (reconcile.sql), each planned for its bounds. A slice is one statement, and so one
// snapshot: a wallet is compared with entries and orders of the same moment, despite concurrent writes.
type phase struct {
	end, discrepancies *db.Statement
	// fromNew makes the walk begin at the new rows (ledger_checks.since) instead of at the first row.
	fromNew bool
}

// wholePhases read every entry and every order.
var wholePhases = []phase{
	{end: named("wallets_end"), discrepancies: named("wallets_discrepancies")},
	{end: named("transactions_end"), discrepancies: named("transactions_discrepancies")},
}

// newPhases read every wallet, and all rows since the last check.
var newPhases = []phase{
	{end: named("new_wallets_end"), discrepancies: named("new_wallets_discrepancies")},
	{end: named("new_entries_end"), discrepancies: named("new_transactions_discrepancies"), fromNew: true},
	{end: named("new_entries_end"), discrepancies: named("new_entries_without_wallet"), fromNew: true},
	{end: named("new_orders_end"), discrepancies: named("new_orders_discrepancies"), fromNew: true},
	{end: named("new_order_events_end"), discrepancies: named("new_order_events_discrepancies"), fromNew: true},
}

// slice checks the slice after an id and returns its end, or lastID if the phase is over.
func (p phase) slice(ctx context.Context, on db.Querier, after uuid.UUID) (until uuid.UUID, found []*Discrepancy, err error) {
	if after == lastID {
		return lastID, nil, nil
	}
	ends, err := db.Column[uuid.UUID](ctx, on, p.end, after)
	if err != nil {
		return lastID, nil, err
	}
	until = lastID
	if len(ends) > 0 {
		until = ends[0]
	}
	found, err = db.All[Discrepancy](ctx, on, p.discrepancies, after, until)
	return until, found, err
}

// Reconcile reads the whole ledger in slices and returns the places where an invariant does not hold, at most 100 for each
// invariant. It locks nothing, starts from the beginning at each call, and records its result as the last check of the whole
// ledger. It is for operators; jobs call ContinueCheck.
func (a *API) Reconcile(ctx context.Context) ([]Discrepancy, error) {
	ctx = db.Patient(ctx)
	f := newFindings()
	for _, p := range wholePhases {
		for at := uuid.Nil; at != lastID; {
			until, found, err := p.slice(ctx, a.DB.SQL, at)
			if err != nil {
				return nil, err
			}
			f.add(found)
			at = until
		}
	}
	off, err := db.All[Discrepancy](ctx, a.DB.SQL, named("disabled_triggers"))
	if err != nil {
		return nil, err
	}
	f.finish(off)
	raw, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	return f.take(), db.Exec(ctx, a.DB.SQL, named("record_check"), WholeLedger, string(raw))
}

// Check names one of the ledger's invariants.
type Check string

// The invariants that reconciliation checks.
const (
	// LedgerBalance: all entries sum to zero.
	LedgerBalance Check = "ledger_balance"
	// TransactionBalance: the entries of each transaction sum to zero.
	TransactionBalance Check = "transaction_balance"
	// AvailableBalance and ReservedBalance: a balance is the sum of its entries.
	AvailableBalance Check = "available_balance"
	ReservedBalance  Check = "reserved_balance"
	// EntryCount: a wallet counts its entries.
	EntryCount Check = "entry_count"
	// EntryNumbers: an agent's entries are numbered from 1 without a gap.
	EntryNumbers Check = "entry_numbers"
	// OrderReserve: a reserved balance is the total of the customer's orders that hold money.
	OrderReserve Check = "order_reserve"
	// LedgerTriggers: the triggers that refuse changed entries and unbalanced transactions are enabled.
	LedgerTriggers Check = "ledger_triggers"
)

// Checks lists the invariants in the order in which discrepancies are reported.
func Checks() []Check {
	return []Check{
		LedgerBalance, TransactionBalance, AvailableBalance, ReservedBalance,
		EntryCount, EntryNumbers, OrderReserve, LedgerTriggers,
	}
}

// Discrepancy is one place where an invariant does not hold.
type Discrepancy struct {
	Check Check `db:"invariant"`
	// BotID or TransactionID names the place; neither is set for the ledger as a whole.
	BotID         *uuid.UUID `db:"bot_id"`
	TransactionID *uuid.UUID `db:"transaction_id"`
	// Expected and Found are minor units, or numbers of entries or triggers.
	Expected int64 `db:"expected"`
	Found    int64 `db:"found"`
}

// discrepanciesPerCheck bounds the report of one check: the first ones show the problem, and millions would not show more.
const discrepanciesPerCheck = 100

// findings are the discrepancies that a check has found so far. They are kept as JSON between slices (ledger_checks.found).
type findings struct {
	// Counted counts the discrepancies of each check, up to 100.
	Counted map[Check]int `json:"counted"`
	// Imbalance is the sum of all checked entries.
	Imbalance int64 `json:"imbalance"`

	all []Discrepancy
}

func newFindings() *findings { return &findings{Counted: make(map[Check]int)} }

// add adds the discrepancies of a slice. A slice's imbalance of the ledger is only a part of the total.
func (f *findings) add(found []*Discrepancy) {
	for _, d := range found {
		switch {
		case d.Check == LedgerBalance:
			f.Imbalance += d.Found
		case f.Counted[d.Check] < discrepanciesPerCheck:
			f.Counted[d.Check]++
			f.all = append(f.all, *d)
		}
	}
}

// finish adds the discrepancies that are known only at the end.
func (f *findings) finish(triggers []*Discrepancy) {
	f.add(triggers)
	if f.Imbalance != 0 {
		f.Counted[LedgerBalance] = 1
		f.all = append(f.all, Discrepancy{Check: LedgerBalance, Found: f.Imbalance})
	}
}

// take returns the discrepancies that were added since its last call, in the order of their checks.
func (f *findings) take() []Discrepancy {
	all, checks := f.all, Checks()
	f.all = nil
	slices.SortStableFunc(all, func(a, b Discrepancy) int {
		return slices.Index(checks, a.Check) - slices.Index(checks, b.Check)
	})
	return all
}
