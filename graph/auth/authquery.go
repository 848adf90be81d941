package auth

import (
	"context"
	"database/sql"

	"github.com/google/uuid"

	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
)

// status lists the columns of a token t and its agent b that authentication reads. Activity is noted once a minute, so that
// reading rarely writes.
const status = `t.id AS token_id, b.id, b.suspended_at IS NOT NULL AS suspended, b.last_active_at < stoa_now() - interval '1 minute' AS stale`

// statusColumns is how many columns status has.
const statusColumns = 4

const (
	ofTokens = ` FROM tokens t JOIN bots b ON b.id = t.bot_id`
	// liveToken holds for the token that was presented, if it authenticates anyone.
	liveToken = ` WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > stoa_now() AND b.state <> 'deleted'`

	authenticateRead = `SELECT ` + status + ofTokens + liveToken
	// authenticateChange also counts the request against the limit of changes; those of a suspended agent do not count.
	authenticateChange = `SELECT ` + status + `, r.allowed, r.remaining, r.reset_after` + ofTokens + `
CROSS JOIN LATERAL stoa_take('mutations', b.id::text, CASE WHEN b.suspended_at IS NULL THEN $2::integer ELSE 0 END, interval '1 minute') r` + liveToken
)

// authQuery is one look-up of a token, and its answer.
type authQuery struct {
	viewer.Viewer

	known, suspended, stale bool
	// taken is the count of a change, resetSeconds the time until its limit is full again.
	taken        limits.Taken
	resetSeconds float64
	// attached is the query that runs along; nil for none.
	attached *Piggyback
	// row is where the columns of the next row go.
	row []any
}

// lookUp reads the agent of a token; known stays false if no agent has that token.
func (a *API) lookUp(ctx context.Context, token string, mutating bool) (*authQuery, error) {
	q := &authQuery{taken: limits.Taken{Limit: limits.Mutations, Quota: a.Quotas.MutationsPerMinute, Allowed: true}}
	query, args := authenticateRead, []any{HashToken(token)}
	q.row = []any{&q.TokenID, &q.BotID, &q.suspended, &q.stale}
	if mutating {
		query, args = authenticateChange, append(args, q.taken.Quota)
		q.row = append(q.row, &q.taken.Allowed, &q.taken.Remaining, &q.resetSeconds)
	}
	if attached := AttachedTo(ctx); attached != nil && !mutating {
		q.attached = attached
		query, args = attached.combined(), append(args, attached.args...)
	}
	if err := a.DB.QueryUncancelled(ctx, q.scan, query, args...); err != nil {
		return nil, err
	}
	if q.attached != nil {
		q.attached.caller = q.BotID
	}
	return q, nil
}

// discard makes ResultFrom find nothing, because the agent's row has changed since it was read.
func (q *authQuery) discard() {
	if q.attached != nil {
		q.attached.caller = uuid.Nil
	}
}

// further is the part of row that the attached query has.
func (q *authQuery) further() []any { return q.row[len(q.row)-q.attached.columns:] }

// scan reads the row of the caller, then those of the attached query.
func (q *authQuery) scan(rows *sql.Rows) error {
	if q.attached == nil {
		q.known = true
		return rows.Scan(q.row...)
	}
	if !q.known {
		q.known = true
		first := q.row
		q.row = make([]any, len(first)+q.attached.columns)
		if q.attached.sameRow {
			copy(q.row, first)
			q.attached.Next(q.further())
			return rows.Scan(q.row...)
		}
		var nothing any
		for i := range q.row {
			q.row[i] = &nothing
		}
		return rows.Scan(append(first, q.further()...)...)
	}
	q.attached.Next(q.further())
	return rows.Scan(q.row...)
}
