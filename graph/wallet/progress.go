package wallet

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
)

// Scope is the part of the ledger that a check reads.
type Scope string

// The scopes of checks. Together they find every discrepancy: in rows since the last check of new entries, and in changed
// balances, within the hour; in old entries or orders, within a day.
const (
	// NewEntries: every wallet, with its entries since its checkpoint, and the transactions, orders and order events that came
	// since the last such check.
	NewEntries Scope = "new"
	// WholeLedger: every entry and every order.
	WholeLedger Scope = "whole"
)

// scopes is the table of checks, in the order in which they run.
var scopes = []scopeRow{
	{NewEntries, newPhases, 0},
	{WholeLedger, wholePhases, 24*time.Hour - 10*time.Minute}, // once a day, asked hourly
}

type scopeRow struct {
	scope  Scope
	phases []phase
	// every is the minimum time between the beginnings of two such checks.
	every time.Duration
}

// overlap is how far before the last check the next one begins: servers, whose clocks may differ, make ids before their
// transactions commit.
const overlap = time.Hour

// Scopes lists the scopes of checks.
func Scopes() []Scope { return page.Map(scopes, func(s scopeRow) Scope { return s.scope }) }

// progress is a row of ledger_checks.
type progress struct {
	Running   bool      `db:"running"`
	Phase     int       `db:"phase"`
	Position  uuid.UUID `db:"position"`
	Since     uuid.UUID `db:"since"`
	NextSince uuid.UUID `db:"next_since"`
	// Found holds findings as JSON.
	Found []byte    `db:"found"`
	Due   bool      `db:"due"`
	Now   time.Time `db:"now"`

	found *findings
}

// ContinueCheck checks the next slice and saves the progress in one transaction, usually in less than a second; after a crash the
// next call continues from there. over reports that the check has ended or is not due. Discrepancies are returned once, when
// their slice is committed. A job calls it until it is over; any number of processes may do so concurrently.
func (a *API) ContinueCheck(ctx context.Context, scope Scope) (found []Discrepancy, over bool, err error) {
	ctx = db.Patient(ctx)
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		found, over, err = nextSlice(ctx, tx, scope)
		return err
	})
	if err != nil {
		return nil, false, err
	}
	return found, over, nil
}

func nextSlice(ctx context.Context, tx *db.Tx, scope Scope) (found []Discrepancy, over bool, err error) {
	i := slices.IndexFunc(scopes, func(s scopeRow) bool { return s.scope == scope })
	p, err := lockProgress(ctx, tx, scopes[i])
	if p == nil || err != nil {
		return nil, true, err
	}
	phases := scopes[i].phases
	current, after := phases[p.Phase], p.Position
	if current.fromNew && after == uuid.Nil {
		after = p.Since
	}
	until, wrong, err := current.slice(ctx, tx.SQL, after)
	if err != nil {
		return nil, false, err
	}
	p.found.add(wrong)
	p.Position = until
	if until == lastID {
		p.Phase, p.Position = p.Phase+1, uuid.Nil
	}
	over = p.Phase == len(phases)
	err = p.save(ctx, tx, scope, over)
	return p.found.take(), over, err
}

// lockProgress returns nil if the check is not due.
func lockProgress(ctx context.Context, tx *db.Tx, s scopeRow) (*progress, error) {
	p, err := db.One[progress](ctx, tx.SQL, named("lock_progress"), s.scope, s.every.Seconds())
	if err != nil {
		return nil, err
	}
	if !p.Running {
		if !p.Due {
			return nil, nil
		}
		p.NextSince = uuid.Nil // the rest: before every id (UUID version 7) that is made at that time or later
		binary.BigEndian.PutUint64(p.NextSince[:8], uint64(p.Now.Add(-overlap).UnixMilli())<<16)
	}
	p.found = newFindings()
	return p, json.Unmarshal(p.Found, p.found)
}

// save saves the findings and how far the check is. If a check that is over has findings, the next one begins where this one did,
// so that it finds them again.
func (p *progress) save(ctx context.Context, tx *db.Tx, scope Scope, over bool) error {
	if over {
		off, err := db.All[Discrepancy](ctx, tx.SQL, named("disabled_triggers"))
		if err != nil {
			return err
		}
		p.found.finish(off)
		if len(p.found.Counted) == 0 {
			p.Since = p.NextSince
		}
	}
	raw, err := json.Marshal(p.found)
	if err != nil {
		return err
	}
	if over {
		return db.Exec(ctx, tx.SQL, named("end_check"), scope, p.Since, string(raw))
	}
	return db.Exec(ctx, tx.SQL, named("save_progress"), scope, p.Phase, p.Position, p.NextSince, string(raw))
}
