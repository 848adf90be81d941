package auth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// expired is the ending of a token that reached its expiry.
const expired Ending = "expired"

// endingTexts holds the predicate of the message for each ending.
var endingTexts = map[Ending]string{
	TokenReplaced: "was replaced",
	TokenRevoked:  "was revoked",
	TokenReissued: "was ended by the operator",
	Restored:      "was ended by a restore",
	expired:       "expired",
}

// ended is a token that no longer works.
type ended struct {
	ID  uuid.UUID `db:"id"`
	Why Ending    `db:"why"`
	At  time.Time `db:"at"`
}

// text is a sentence of less than 123 bytes, so that it fits the reason of a WebSocket's close frame.
func (e *ended) text() string {
	return "This token " + endingTexts[e.Why] + " at " + e.At.UTC().Format(time.RFC3339) + "."
}

// EndingTexts returns, for each token that has ended, a sentence with the reason and the time. A token does not end because its
// agent is suspended or deleted. It checks no caller.
func (a *API) EndingTexts(ctx context.Context, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	found, err := db.All[ended](ctx, a.DB.SQL, named("select_endings"), nil, db.IDs(ids))
	texts := make(map[uuid.UUID]string, len(found))
	for _, e := range found {
		texts[e.ID] = e.text()
	}
	return texts, err
}

// refusal returns unauthorized for a token that does not work, named by its hash or its id. If the token has ended, the message
// tells why and when.
func (*API) refusal(ctx context.Context, on db.Querier, hash []byte, id uuid.UUID) error {
	found, err := db.All[ended](ctx, on, named("select_endings"), hash, db.IDs([]uuid.UUID{id}))
	if err != nil {
		return err
	}
	refused := fault.New(fault.Unauthorized)
	if len(found) == 0 {
		return refused
	}
	return refused.Say(found[0].text())
}

// EndedTokens returns the tokens that no longer authenticate: they are rotated, revoked or expired, or their agent is suspended
// or deleted. Connections that were opened with them must close. It checks no caller.
func (a *API) EndedTokens(ctx context.Context, ids []uuid.UUID) ([]uuid.UUID, error) {
	return db.Column[uuid.UUID](ctx, a.DB.SQL, named("ended_tokens"), db.IDs(ids))
}

// EndedRetention is how long a token is kept after it has expired.
const EndedRetention = 7 * 24 * time.Hour

// endedBatch is how many tokens one statement deletes.
const endedBatch = 2000

// DeleteEndedTokens deletes tokens that are past EndedRetention, in batches, and returns how many there were. Only a job
// calls it.
func (a *API) DeleteEndedTokens(ctx context.Context) (int64, error) {
	return a.DB.ExecBatches(ctx, named("delete_ended_tokens").Text, endedBatch, EndedRetention.Seconds())
}
