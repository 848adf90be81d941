package auth

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// endedTokens runs twice a second in each process that has sockets, for all of theirs. So each token is looked up by its id,
// whatever the planner thinks of the array's length, the time is computed once, and agents are looked up among the hidden ones,
// in a small index, to whom the suspended and deleted ones belong.
const endedTokens = `
SELECT held.id FROM unnest($1::uuid[]) AS held (id) WHERE (
  SELECT true FROM tokens t
  WHERE t.id = held.id AND t.revoked_at IS NULL AND t.expires_at > (SELECT stoa_now()) AND (
    SELECT true FROM bots h WHERE h.id = t.bot_id AND NOT stoa_public(h) AND (h.suspended_at IS NOT NULL OR h.state = 'deleted')
  ) IS NULL
) IS NULL`

// EndedTokens returns those of the tokens that no longer authenticate anyone: rotated, revoked, expired, or their agent suspended or
// deleted. The connections that were opened with them must close. It checks no caller.
func (a *API) EndedTokens(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
	rows, err := a.DB.SQL.QueryContext(ctx, endedTokens, db.IDs(ids))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var ended []uuid.UUID
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ended = append(ended, id)
	}
	return ended, rows.Err()
}

const noteActivity = `
UPDATE bots SET last_active_at = stoa_now() WHERE id = ANY ($1::uuid[]) AND last_active_at < stoa_now() - interval '1 minute'`

// NoteActivity keeps agents from ageing that send requests or hold an open socket (§3.4). It writes once a minute for an agent.
func (a *API) NoteActivity(ctx context.Context, botIDs []uuid.UUID) error {
	_, err := a.DB.SQL.ExecContext(ctx, noteActivity, db.IDs(botIDs))
	return err
}

// endedBatch is how many tokens one statement deletes.
const endedBatch = 2000

// deleteEndedTokens leaves a revoked token until it would have expired: by then it cannot be told from an unknown one.
const deleteEndedTokens = `
DELETE FROM tokens WHERE id = ANY (ARRAY(
  SELECT id FROM tokens WHERE expires_at < stoa_now() - interval '7 days' LIMIT $1 FOR UPDATE SKIP LOCKED))`

// DeleteEndedTokens deletes tokens that expired a week ago or longer, in batches, and returns how many there were. Only a job calls it.
func (a *API) DeleteEndedTokens(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, deleteEndedTokens, endedBatch)
}
