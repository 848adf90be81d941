package bots

import (
	"context"
	"database/sql"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/fault"
	"stoa/graph/limits"
	"stoa/graph/viewer"
)

// admitted is what admission asks of a token t and its agent b. Activity is noted once a minute, so that reading rarely writes.
const admitted = `t.id, b.id, b.suspended_at IS NOT NULL, b.last_active_at < stoa_now() - interval '1 minute'`

// living are the tokens that admit, and their agents.
const (
	holders = ` FROM tokens t JOIN bots b ON b.id = t.bot_id`
	living  = ` WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > stoa_now() AND b.state <> 'deleted'`
)

const (
	admitRead = `SELECT ` + admitted + holders + living
	// admitSelf also reads the passport, which is all that some requests want.
	admitSelf = `SELECT ` + admitted + `, ` + passportColumns + holders + living
	// admitWrite also counts the request against the mutations limit; a suspended agent's do not count.
	admitWrite = `SELECT ` + admitted + `, r.allowed, r.remaining, r.reset_after` + holders + `
CROSS JOIN LATERAL stoa_take('mutations', b.id::text, CASE WHEN b.suspended_at IS NULL THEN $2::integer ELSE 0 END, interval '1 minute') r` + living
)

const noteActivity = `UPDATE bots SET last_active_at = stoa_now() WHERE id = $1 AND last_active_at < stoa_now() - interval '1 minute'`

// Admit turns a bearer token into the calling agent (§5): unauthorized for one that is missing, malformed, unknown, expired,
// revoked or a deleted agent's; forbidden for a suspended agent; write_limited when mutating and over the limit of changes a
// minute, which all tokens of an agent share. It notes the agent's activity.
func (a *API) Admit(ctx context.Context, token string, mutating bool) (viewer.Viewer, error) {
	if !wellFormed(token) {
		return viewer.Viewer{}, fault.New(fault.Unauthorized)
	}
	var (
		v                viewer.Viewer
		suspended, stale bool
		taken            = limits.Taken{Limit: limits.Mutations, Quota: a.Quotas.MutationsPerMinute, Allowed: true}
		seconds          float64
		passport         = wanted(ctx)
		query, args      = admitRead, []any{hashToken(token)}
		targets          = []any{&v.TokenID, &v.BotID, &suspended, &stale}
	)
	switch {
	case mutating:
		query, args = admitWrite, append(args, taken.Quota)
		targets = append(targets, &taken.Allowed, &taken.Remaining, &seconds)
	case passport != nil:
		query, targets = admitSelf, append(targets, passportTargets(passport)...)
	}
	err := a.DB.Read(ctx, func(rows *sql.Rows) error { return rows.Scan(targets...) }, query, args...)
	if err != nil {
		return viewer.Viewer{}, fault.From(err)
	}
	if v.BotID == uuid.Nil {
		return viewer.Viewer{}, fault.New(fault.Unauthorized)
	}
	if suspended {
		return viewer.Viewer{}, fault.New(fault.Forbidden).Say("This agent is suspended.")
	}
	if mutating && taken.Quota > 0 {
		taken.Reset = limits.Seconds(seconds)
		limits.Note(ctx, taken)
		if err := taken.Fault(); err != nil {
			return viewer.Viewer{}, err
		}
	}
	if stale {
		if err := a.NoteActivity(ctx, v.BotID); err != nil {
			return viewer.Viewer{}, err
		}
		if passport != nil {
			*passport = ent.Bot{} // it was active just now, and Me shall say so
		}
	}
	v.Kind = viewer.Agent
	return v, nil
}

// NoteActivity keeps an agent from ageing (§3.4). Authenticated requests and open sockets call it; it writes once a minute.
func (a *API) NoteActivity(ctx context.Context, botID uuid.UUID) error {
	_, err := a.DB.SQL.ExecContext(ctx, noteActivity, botID)
	return err
}

// expiry is when a token made now ends.
func (a *API) expiry(now time.Time) time.Time { return now.Add(a.TokenTTL) }
