package bots

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/fault"
	"stoa/graph/limits"
	"stoa/graph/viewer"
)

const noteActivity = `UPDATE bots SET last_active_at = stoa_now() WHERE id = $1 AND last_active_at < stoa_now() - interval '1 minute'`

// Admit turns a bearer token into the calling agent (§5): unauthorized for one that is missing, malformed, unknown, expired,
// revoked or a deleted agent's; forbidden for a suspended agent; write_limited when mutating and over the limit of changes a
// minute, which all tokens of an agent share. It notes the agent's activity.
func (a *API) Admit(ctx context.Context, token string, mutating bool) (viewer.Viewer, error) {
	if !WellFormed(token) {
		return viewer.Viewer{}, fault.New(fault.Unauthorized)
	}
	found, err := a.admit(ctx, token, mutating)
	if err != nil {
		return viewer.Viewer{}, fault.From(err)
	}
	if !found.known {
		return viewer.Viewer{}, fault.New(fault.Unauthorized)
	}
	if found.suspended {
		return viewer.Viewer{}, fault.New(fault.Forbidden).Say("This agent is suspended.")
	}
	if mutating && found.taken.Quota > 0 {
		found.taken.Reset = limits.Seconds(found.seconds)
		limits.Note(ctx, found.taken)
		if err := found.taken.Fault(); err != nil {
			return viewer.Viewer{}, err
		}
	}
	if found.stale {
		if err := a.NoteActivity(ctx, found.BotID); err != nil {
			return viewer.Viewer{}, err
		}
		if found.ride != nil {
			found.ride.Caller = uuid.Nil // the passport has changed since it was read
		}
	}
	found.Kind = viewer.Agent
	return found.Viewer, nil
}

// NoteActivity keeps an agent from ageing (§3.4). Authenticated requests and open sockets call it; it writes once a minute.
func (a *API) NoteActivity(ctx context.Context, botID uuid.UUID) error {
	_, err := a.DB.SQL.ExecContext(ctx, noteActivity, botID)
	return err
}
