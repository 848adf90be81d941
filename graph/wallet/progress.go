package wallet

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// Scope says how much a check looks at.
type Scope string

// The scopes of checks. Together they find every discrepancy: what came since the last check of new entries, and every changed balance,
// within the hour; what is wrong among old entries or orders, within a day.
const (
	// NewEntries: every wallet, with the entries behind its checkpoint, and the transactions, orders and order events that came since
	// the last such check.
	NewEntries Scope = "new"
	// WholeLedger: every entry and every order.
	WholeLedger Scope = "whole"
)

// scopes is the table of checks, in the order in which they run.
var scopes = []scopeRow{
	{NewEntries, fresh, 0},
	{WholeLedger, whole, 24*time.Hour - 10*time.Minute}, // once a day, asked hourly
}

type scopeRow struct {
	scope  Scope
	phases []phase
	// every is how often such a check begins at most.
	every time.Duration
}

// overlap is how far before the last check the next one begins: ids are made by servers, whose clocks may differ, before their
// transactions are committed.
const overlap = time.Hour

// Scopes lists the scopes of checks.
func Scopes() []Scope {
	names := make([]Scope, len(scopes))
	for i, s := range scopes {
		names[i] = s.scope
	}
	return names
}

// progress is a row of ledger_checks.
type progress struct {
	running         bool
	phase           int
	position        uuid.UUID
	since, sinceEnd uuid.UUID
	found           *findings
}

const (
	readProgress = `
SELECT began_at IS NOT NULL, phase, position, since, next_since, found, coalesce(last_began_at <= stoa_now() - make_interval(secs => $2), true), now()
FROM ledger_checks WHERE scope = $1 FOR UPDATE`

	writeProgress = `
UPDATE ledger_checks SET began_at = coalesce(began_at, stoa_now()), phase = $2, position = $3, next_since = $4, found = $5 WHERE scope = $1`

	writeEnd = `
UPDATE ledger_checks SET last_began_at = coalesce(began_at, stoa_now()), last_ended_at = stoa_now(), last_found = $2, since = $3,
  began_at = NULL, phase = 0, position = DEFAULT, found = DEFAULT WHERE scope = $1`
)

// ContinueCheck looks at the next slice of a check and notes how far it came, in one transaction of usually less than a second; after
// a crash the next call goes on from there. over tells that the check has ended or is not due. Discrepancies are returned once, when
// their slice is committed. It is a job's to call until it is over, and any number of processes may.
func (a *API) ContinueCheck(ctx context.Context, scope Scope) (found []Discrepancy, over bool, err error) {
	ctx = db.WithStatementTimeout(ctx, sliceTimeout)
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
	current, after := phases[p.phase], p.position
	if current.fresh && after == uuid.Nil {
		after = p.since
	}
	until, wrong, err := current.slice(ctx, tx.SQL, after)
	if err != nil {
		return nil, false, err
	}
	for _, d := range wrong {
		p.found.add(d)
	}
	p.position = until
	if until == lastID {
		p.phase, p.position = p.phase+1, uuid.Nil
	}
	if over = p.phase == len(phases); over {
		err = p.end(ctx, tx, scope)
	} else {
		err = p.note(ctx, tx, scope)
	}
	return p.found.take(), over, err
}

// lockProgress returns nil where the check is not due.
func lockProgress(ctx context.Context, tx *db.Tx, s scopeRow) (*progress, error) {
	p := &progress{found: newFindings()}
	var (
		raw []byte
		due bool
		now time.Time // the true one, which ids are made of
	)
	err := tx.SQL.QueryRowContext(ctx, readProgress, s.scope, s.every.Seconds()).
		Scan(&p.running, &p.phase, &p.position, &p.since, &p.sinceEnd, &raw, &due, &now)
	if err != nil {
		return nil, err
	}
	if !p.running {
		if !due {
			return nil, nil
		}
		p.sinceEnd = firstID(now.Add(-overlap))
	}
	return p, json.Unmarshal(raw, p.found)
}

func (p *progress) note(ctx context.Context, tx *db.Tx, scope Scope) error {
	raw, err := json.Marshal(p.found)
	if err != nil {
		return err
	}
	_, err = tx.SQL.ExecContext(ctx, writeProgress, scope, p.phase, p.position, p.sinceEnd, string(raw))
	return err
}

// end notes what the check has found. Where that is anything, the next check begins where this one did, so that it finds it again.
func (p *progress) end(ctx context.Context, tx *db.Tx, scope Scope) error {
	off, err := discrepancies(ctx, tx.SQL, triggers)
	if err != nil {
		return err
	}
	p.found.finish(off)
	if len(p.found.Counted) == 0 {
		p.since = p.sinceEnd
	}
	raw, err := json.Marshal(p.found)
	if err != nil {
		return err
	}
	_, err = tx.SQL.ExecContext(ctx, writeEnd, scope, string(raw), p.since)
	return err
}

// firstID is before every id (UUID version 7) that is made at that time or later.
func firstID(at time.Time) uuid.UUID {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(at.UnixMilli())<<16)
	return id
}
