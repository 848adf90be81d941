package bots

import (
	"context"
	"database/sql"
	"strings"

	"stoa/graph/limits"
	"stoa/graph/ride"
	"stoa/graph/viewer"
)

// admitted is what admission reads of a token t and its agent b. Activity is noted once a minute, so that reading rarely writes.
const admitted = `t.id AS token_id, b.id, b.suspended_at IS NOT NULL AS suspended, b.last_active_at < stoa_now() - interval '1 minute' AS stale`

// living are the tokens that admit, and their agents.
const (
	holders = ` FROM tokens t JOIN bots b ON b.id = t.bot_id`
	living  = ` WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > stoa_now() AND b.state <> 'deleted'`
)

const (
	admitRead = `SELECT ` + admitted + holders + living
	// admitWrite also counts the request against the mutations limit; a suspended agent's do not count.
	admitWrite = `SELECT ` + admitted + `, r.allowed, r.remaining, r.reset_after` + holders + `
CROSS JOIN LATERAL stoa_take('mutations', b.id::text, CASE WHEN b.suspended_at IS NULL THEN $2::integer ELSE 0 END, interval '1 minute') r` + living
)

// admittedColumns are the columns of admitted.
const admittedColumns = 4

// withRide makes one statement of an admission to read and a query. PostgreSQL runs the parts of a UNION ALL in their order: the
// first row says who asks and nothing else, every other one holds a row of the ride and nothing else.
func withRide(query string, columns int) string {
	return `WITH me AS MATERIALIZED (` + admitRead + `)
SELECT me.*` + strings.Repeat(`, NULL`, columns) + ` FROM me
UNION ALL
SELECT ` + strings.Repeat(`NULL, `, admittedColumns) + `ride.* FROM me CROSS JOIN LATERAL (` + query + `) ride WHERE NOT me.suspended`
}

// admission is one question who a token belongs to, and the answer.
type admission struct {
	viewer.Viewer
	known, suspended, stale bool
	// taken and seconds are what became of a change's count, seconds until its limit is whole again.
	taken   limits.Taken
	seconds float64
	// ride is what is read along, nil for nothing.
	ride *ride.Ride
	// row is where the columns of the next row go; so many are of the caller.
	row     []any
	columns int
}

// admit asks; known stays false where nobody is admitted.
func (a *API) admit(ctx context.Context, token string, mutating bool) (*admission, error) {
	m := &admission{taken: limits.Taken{Limit: limits.Mutations, Quota: a.Quotas.MutationsPerMinute, Allowed: true}}
	query, args := admitRead, []any{hashToken(token)}
	m.row = []any{&m.TokenID, &m.BotID, &m.suspended, &m.stale}
	if mutating {
		query, args = admitWrite, append(args, m.taken.Quota)
		m.row = append(m.row, &m.taken.Allowed, &m.taken.Remaining, &m.seconds)
	} else if m.ride = ride.Of(ctx); m.ride != nil {
		query, args = m.ride.Whole(withRide), append(args, m.ride.Args...)
	}
	if err := a.DB.QueryUncancelled(ctx, m.scan, query, args...); err != nil {
		return nil, err
	}
	if m.ride != nil {
		m.ride.Caller = m.BotID
	}
	return m, nil
}

// scan reads the row of the caller, and those of the ride.
func (m *admission) scan(rows *sql.Rows) error {
	if m.ride == nil {
		m.known = true
		return rows.Scan(m.row...)
	}
	if !m.known {
		m.known = true
		first := m.row
		m.columns = len(first)
		m.row = make([]any, m.columns+m.ride.Columns())
		var nothing any
		for i := range m.row {
			m.row[i] = &nothing
		}
		return rows.Scan(append(first, m.row[m.columns:]...)...)
	}
	m.ride.Next(m.row[m.columns:])
	return rows.Scan(m.row...)
}
