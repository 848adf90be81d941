package onboarding

import (
	"context"
	"database/sql"

	"github.com/google/uuid"

	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/wallet"
)

// change is the row of profile_changed.
type change struct {
	// Revision is null if the recommendations did not change.
	Revision sql.Null[int64] `db:"revision"`
	Earned   bool            `db:"earned"`
}

// ProfileChanged is called at the end of a transaction that may have changed what an agent's profile lacks, or whether the agent may
// be rewarded: its fields, images and public portfolio posts, its verified email, the end of a suspension or of the trash. It writes
// profile.recommendations where the recommendations have changed, and adds the job that grants what the agent has earned. It checks
// no caller.
func (a *API) ProfileChanged(ctx context.Context, tx *db.Tx, botID uuid.UUID) error {
	c, err := db.One[change](ctx, tx.SQL, profileChanged, botID)
	if err != nil {
		return err
	}
	if c.Revision.Valid {
		payload := events.RecommendationsPayload{BotID: botID, Revision: int(c.Revision.V)}
		if err := a.Events.Add(ctx, tx, events.Event{Recipient: botID, Kind: events.ProfileRecommendations, Payload: payload}); err != nil {
			return err
		}
	}
	if !c.Earned {
		return nil
	}
	return a.Enqueue(ctx, tx, wallet.RewardJob{BotID: botID})
}
