package bots

import (
	"context"
	"database/sql"
	"strings"

	"stoa/ent"
	"stoa/graph/limits"
	"stoa/graph/ride"
	"stoa/graph/viewer"
)

// standing is what admission asks of an agent b, admitted what it asks of its token t too. Activity is noted once a minute, so
// that reading rarely writes.
const (
	standing = `b.suspended_at IS NOT NULL AS suspended, b.last_active_at < stoa_now() - interval '1 minute' AS stale`
	admitted = `t.id AS token_id, b.id, ` + standing
)

// living are the tokens that admit, and their agents.
const (
	holders = ` FROM tokens t JOIN bots b ON b.id = t.bot_id`
	living  = ` WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > stoa_now() AND b.state <> 'deleted'`
)

const (
	admitRead = `SELECT ` + admitted + holders + living
	// admitSelf reads the passport, and not the token's id, which nothing needs that wants only a passport.
	admitSelf = `SELECT ` + standing + `, ` + passportColumns + holders + living
	// admitWrite also counts the request against the mutations limit; a suspended agent's do not count.
	admitWrite = `SELECT ` + admitted + `, r.allowed, r.remaining, r.reset_after` + holders + `
CROSS JOIN LATERAL stoa_take('mutations', b.id::text, CASE WHEN b.suspended_at IS NULL THEN $2::integer ELSE 0 END, interval '1 minute') r` + living
)

// vehicle is an admission that a query can ride on.
type vehicle struct {
	// statement selects so many columns of the caller; admits is which callers a query runs for.
	statement string
	columns   int
	admits    string
}

var (
	reading  = &vehicle{admitRead, 4, `NOT me.suspended`}
	changing = &vehicle{admitWrite, 7, `NOT me.suspended AND me.allowed`}
)

// with makes one statement of admission and a query. PostgreSQL runs the parts of a UNION ALL in their order: the first row says who
// asks and nothing else, every other one holds a row of the ride and nothing else.
func (v *vehicle) with(query string, columns int) string {
	return `WITH me AS MATERIALIZED (` + v.statement + `)
SELECT me.*` + strings.Repeat(`, NULL`, columns) + ` FROM me
UNION ALL
SELECT ` + strings.Repeat(`NULL, `, v.columns) + `ride.* FROM me CROSS JOIN LATERAL (` + query + `) ride WHERE ` + v.admits
}

// admission is one question who a token belongs to, and the answer.
type admission struct {
	viewer.Viewer
	known, suspended, stale bool
	// taken and seconds are what became of a change's count, seconds until its limit is whole again.
	taken   limits.Taken
	seconds float64
	// passport and ride are what is read along, nil for nothing.
	passport *ent.Bot
	ride     *ride.Ride
	// row is where the columns of the next row go; so many are of the caller.
	row     []any
	columns int
}

// admit asks; known stays false where nobody is admitted.
func (a *API) admit(ctx context.Context, token string, mutating bool) (*admission, error) {
	m := &admission{taken: limits.Taken{Limit: limits.Mutations, Quota: a.Quotas.MutationsPerMinute, Allowed: true}}
	on, args := reading, []any{hashToken(token)}
	m.row = []any{&m.TokenID, &m.BotID, &m.suspended, &m.stale}
	if mutating {
		on, args = changing, append(args, m.taken.Quota)
		m.row = append(m.row, &m.taken.Allowed, &m.taken.Remaining, &m.seconds)
	} else {
		m.passport = wanted(ctx)
	}
	query := on.statement
	if m.passport != nil {
		query, m.row = admitSelf, append([]any{&m.suspended, &m.stale}, passportTargets(m.passport)...)
	} else if m.ride = ride.Of(ctx, mutating); m.ride != nil {
		query, args = m.ride.Whole(on.with), append(args, m.ride.Args...)
	}
	if err := a.DB.Read(ctx, m.scan, query, args...); err != nil {
		return nil, err
	}
	if m.passport != nil {
		m.BotID = m.passport.ID
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
