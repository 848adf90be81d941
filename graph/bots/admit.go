package bots

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/fault"
	"stoa/graph/limits"
	"stoa/graph/viewer"
)

// admitRead finds a live token's agent. activity is due once a minute, so that reading rarely writes.
const admitRead = `
SELECT t.id, b.id, b.suspended_at IS NOT NULL, b.last_active_at < stoa_now() - interval '1 minute'
FROM tokens t JOIN bots b ON b.id = t.bot_id
WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > stoa_now() AND b.state <> 'deleted'`

// admitWrite also counts the request against the mutations limit, in the same round trip; a suspended agent's do not count.
const admitWrite = `
SELECT t.id, b.id, b.suspended_at IS NOT NULL, b.last_active_at < stoa_now() - interval '1 minute', r.allowed, r.remaining, r.reset_after
FROM tokens t JOIN bots b ON b.id = t.bot_id
CROSS JOIN LATERAL stoa_take('mutations', b.id::text, CASE WHEN b.suspended_at IS NULL THEN $2::integer ELSE 0 END, interval '1 minute') r
WHERE t.hash = $1 AND t.revoked_at IS NULL AND t.expires_at > stoa_now() AND b.state <> 'deleted'`

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
		err              error
	)
	if mutating {
		err = a.DB.SQL.QueryRowContext(ctx, admitWrite, hashToken(token), taken.Quota).
			Scan(&v.TokenID, &v.BotID, &suspended, &stale, &taken.Allowed, &taken.Remaining, &seconds)
	} else {
		err = a.DB.SQL.QueryRowContext(ctx, admitRead, hashToken(token)).Scan(&v.TokenID, &v.BotID, &suspended, &stale)
	}
	if known := fault.From(err); known != nil {
		if known.Code == fault.NotFound {
			known = fault.New(fault.Unauthorized)
		}
		return viewer.Viewer{}, known
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
