package wallet

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// lastID is not before any id.
var lastID = uuid.Max

// phase is one walk over a table in slices (reconcile.sql). A slice is one statement, and so one snapshot: a wallet is compared
// with entries and orders of the same moment, despite concurrent writes.
type phase struct {
	end, discrepancies *db.Statement
	// fromNew makes the walk begin at the new rows (ledger_checks.since) instead of at the first row.
	fromNew bool
}

// wholePhases read every entry and every order.
var wholePhases = []phase{
	{end: planned("wallets_end"), discrepancies: planned("wallets_discrepancies")},
	{end: planned("transactions_end"), discrepancies: planned("transactions_discrepancies")},
}

// newPhases read every wallet, and all rows since the last check.
var newPhases = []phase{
	{end: planned("new_wallets_end"), discrepancies: planned("new_wallets_discrepancies")},
	{end: planned("new_entries_end"), discrepancies: planned("new_transactions_discrepancies"), fromNew: true},
	{end: planned("new_entries_end"), discrepancies: planned("new_entries_without_wallet"), fromNew: true},
	{end: planned("new_orders_end"), discrepancies: planned("new_orders_discrepancies"), fromNew: true},
	{end: planned("new_order_events_end"), discrepancies: planned("new_order_events_discrepancies"), fromNew: true},
}

// planned returns a statement that is planned for the bounds of each slice.
func planned(name string) *db.Statement {
	return &db.Statement{Name: name, Text: db.PlanPerValue + statements.Named(name).Text}
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

// Reconcile reads the whole ledger in slices and returns where an invariant does not hold, at most 100 discrepancies a check,
// none for a sound database. It changes nothing, locks nothing, and starts from the beginning at each call. It is for operators;
// jobs call ContinueCheck.
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
	return f.take(), nil
}
