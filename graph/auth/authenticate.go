package auth

import (
	"context"
	"database/sql"
	"strings"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
)

// Authenticate returns the agent of a bearer token (§5). Faults: unauthorized if the token is missing, malformed, unknown,
// expired, revoked, or of a deleted agent (if it was once valid, the message tells why and when it ended); forbidden for a
// suspended agent, with an operator's text to it; write_limited for a change over the limit of changes a minute, which all tokens
// of an agent share. It notes the agent's activity.
func (a *API) Authenticate(ctx context.Context, token string, mutating bool) (viewer.Viewer, error) {
	return a.AuthenticateAlong(ctx, token, mutating, nil)
}

// AuthenticateAlong is Authenticate with a read in the same statement, unless along is nil. For a change, along is ignored.
func (a *API) AuthenticateAlong(ctx context.Context, token string, mutating bool, along *Along) (viewer.Viewer, error) {
	if !WellFormed(token) {
		return viewer.Viewer{}, fault.New(fault.Unauthorized)
	}
	found, err := a.lookUp(ctx, token, mutating, along)
	if err != nil {
		return viewer.Viewer{}, fault.From(err)
	}
	if found.Kind != viewer.Agent {
		return viewer.Viewer{}, fault.From(a.refusal(ctx, a.DB.SQL, HashToken(token), uuid.Nil))
	}
	if found.suspended {
		return viewer.Viewer{}, a.suspension(ctx, found.BotID)
	}
	if mutating && found.taken.Quota > 0 {
		found.taken.Reset = limits.Seconds(found.resetSeconds)
		limits.Note(ctx, found.taken)
		if err := found.taken.Fault(); err != nil {
			return viewer.Viewer{}, err
		}
	}
	if found.stale {
		if err := a.NoteActivity(ctx, []uuid.UUID{found.BotID}); err != nil {
			return viewer.Viewer{}, err
		}
		found.Along = nil // it was read before the activity was noted
	}
	return found.Viewer, nil
}

// suspension returns forbidden, with the text that an operator wrote to the suspended agent.
func (a *API) suspension(ctx context.Context, botID uuid.UUID) error {
	said, err := db.Column[string](ctx, a.DB.SQL, named("select_suspension"), botID)
	if err != nil {
		return fault.From(err)
	}
	return fault.New(fault.Forbidden).Say(strings.Join(append([]string{"This agent is suspended."}, said...), " The operators say: "))
}

// holder is the agent of a token, and the count of its change if it makes one.
type holder struct {
	viewer.Viewer

	// stale reports that its activity must be noted again.
	suspended, stale bool
	taken            limits.Taken
	// resetSeconds is the time until the whole quota is available again.
	resetSeconds float64
}

// lookUp reads the agent of a token. It counts a change, or else runs the read of along. Kind is set only if the agent exists.
func (a *API) lookUp(ctx context.Context, token string, mutating bool, along *Along) (*holder, error) {
	h := &holder{taken: limits.Taken{Limit: limits.Mutations, Quota: a.Quotas.MutationsPerMinute, Allowed: true}}
	statement, args := named("authenticate"), []any{HashToken(token)}
	columns := []any{&h.TokenID, &h.BotID, &h.suspended, &h.stale}
	if mutating {
		statement, args = named("authenticate_change"), append(args, h.taken.Quota)
		columns = append(columns, &h.taken.Allowed, &h.taken.Remaining, &h.resetSeconds)
	}
	scan := func(rows *sql.Rows) error { return rows.Scan(columns...) }
	if along != nil && !mutating {
		read := along.rows()
		h.Along, statement = read, &db.Statement{Text: along.text}
		scan = along.scan(read, columns)
	}
	return h, db.Each(ctx, a.DB.SQL, func(rows *sql.Rows) error {
		h.Kind = viewer.Agent
		return scan(rows)
	}, statement, args...)
}

// NoteActivity notes that agents send requests or hold an open socket (§3.4). It writes at most once a minute for each agent.
func (a *API) NoteActivity(ctx context.Context, botIDs []uuid.UUID) error {
	_, err := a.DB.SQL.ExecContext(ctx, named("note_activity").Text, db.IDs(botIDs))
	return err
}
