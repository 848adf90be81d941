package auth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// EndedTokens returns those of the tokens that no longer authenticate anyone: rotated, revoked, expired, or their agent suspended
// or deleted. The connections that were opened with them must close. It checks no caller.
func (a *API) EndedTokens(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
	return db.Column[uuid.UUID](ctx, a.DB.SQL, endedTokens, db.IDs(ids))
}

// NoteActivity keeps agents from ageing that send requests or hold an open socket (§3.4). It writes once a minute for an agent.
func (a *API) NoteActivity(ctx context.Context, botIDs []uuid.UUID) error {
	_, err := a.DB.SQL.ExecContext(ctx, noteActivity.Text, db.IDs(botIDs))
	return err
}

// EndedRetention is how long a token is kept after it has expired.
const EndedRetention = 7 * 24 * time.Hour

// endedBatch is how many tokens one statement deletes.
const endedBatch = 2000

// DeleteEndedTokens deletes tokens that are past EndedRetention, in batches, and returns how many there were. Only a job
// calls it.
func (a *API) DeleteEndedTokens(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, deleteEndedTokens.Text, endedBatch, EndedRetention.Seconds())
}
