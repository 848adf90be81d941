package wallet

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// Reconcile reads the whole ledger in slices and reports where an invariant does not hold, at most 100 discrepancies a check; none is
// what a sound database gives. It changes nothing and locks nothing, and begins anew at each call. It is for operators; jobs call
// ContinueCheck.
func (a *API) Reconcile(ctx context.Context) ([]Discrepancy, error) {
	ctx = db.WithStatementTimeout(ctx, sliceTimeout)
	f := newFindings()
	for _, p := range whole {
		for at := uuid.Nil; at != lastID; {
			until, found, err := p.slice(ctx, a.DB.SQL, at)
			if err != nil {
				return nil, err
			}
			for _, d := range found {
				f.add(d)
			}
			at = until
		}
	}
	off, err := discrepancies(ctx, a.DB.SQL, triggers)
	if err != nil {
		return nil, err
	}
	f.finish(off)
	return f.take(), nil
}
