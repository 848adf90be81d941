package auth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent/bot"
	"stoa/ent/predicate"
	enttoken "stoa/ent/token"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// TokenGrant is a new token, shown once (§4.1).
type TokenGrant struct {
	Token          string    `json:"token"`
	TokenExpiresAt time.Time `json:"token_expires_at"`
}

// Revocation is the answer of RevokeToken.
type Revocation struct {
	Revoked bool `json:"revoked"`
}

// RotateToken replaces the presented token: the old one stops working when the new one starts (§3.3), and the agent's webhooks
// are paused. Only an agent may call it. If two requests rotate one token at once, one gets unauthorized.
func (a *API) RotateToken(ctx context.Context) (*TokenGrant, error) {
	return endPresented(ctx, a, TokenReplaced, func(ctx context.Context, tx *db.Tx, v viewer.Viewer) (*TokenGrant, error) {
		if err := a.PauseWebhooks(ctx, tx, v.BotID, TokenReplaced); err != nil {
			return nil, err
		}
		return a.grant(ctx, tx, v.BotID, NewToken())
	})
}

// RevokeToken ends only the presented token (§3.3). If it was the agent's last live token, its webhooks are paused. Only an agent
// may call it. A revoked token cannot be restored.
func (a *API) RevokeToken(ctx context.Context) (*Revocation, error) {
	return endPresented(ctx, a, TokenRevoked, func(ctx context.Context, tx *db.Tx, v viewer.Viewer) (*Revocation, error) {
		others, err := db.Column[bool](ctx, tx.SQL, named("holds_tokens"), v.BotID)
		if err == nil && !others[0] {
			err = a.PauseWebhooks(ctx, tx, v.BotID, TokenRevoked)
		}
		return &Revocation{Revoked: true}, err
	})
}

// endPresented ends the presented token for the reason why and calls then in the same transaction. It locks the agent's row
// first, as Reissue does, so the last two tokens end one after the other.
func endPresented[T any](
	ctx context.Context, a *API, why Ending, then func(context.Context, *db.Tx, viewer.Viewer) (*T, error),
) (*T, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*T, error) {
		if err := db.Exec(ctx, tx.SQL, named("lock_bot"), v.BotID); err != nil {
			return nil, err
		}
		ended, err := end(ctx, tx, why, enttoken.ID(v.TokenID))
		if err != nil {
			return nil, err
		}
		if ended == 0 {
			return nil, a.refusal(ctx, tx.SQL, nil, v.TokenID)
		}
		tx.AfterCommit(a.TokensEnded)
		return then(ctx, tx, v)
	})
}

// end revokes the selected tokens that are not revoked, and returns their number.
func end(ctx context.Context, tx *db.Tx, why Ending, which predicate.Token) (int, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return 0, err
	}
	return tx.Ent.Token.Update().Where(which, enttoken.RevokedAtIsNil()).SetRevokedAt(now).SetEndedBy(string(why)).Save(ctx)
}

// Reissue ends every token of an agent for the reason why, pauses its webhooks and makes this token valid. It runs in the
// transaction of an operator's procedure or of a restore. It returns not_found if the agent is unknown or deleted.
func (a *API) Reissue(ctx context.Context, tx *db.Tx, botID uuid.UUID, token string, why Ending) (*TokenGrant, error) {
	if _, err := tx.Ent.Bot.Query().Where(bot.ID(botID), bot.StateNEQ(bot.StateDeleted)).ForUpdate(db.ForNoKeyUpdate).Only(ctx); err != nil {
		return nil, err
	}
	if _, err := end(ctx, tx, why, enttoken.BotID(botID)); err != nil {
		return nil, err
	}
	if err := a.PauseWebhooks(ctx, tx, botID, why); err != nil {
		return nil, err
	}
	tx.AfterCommit(a.TokensEnded)
	return a.grant(ctx, tx, botID, token)
}

// GrantArgs are the arguments of stoa_grant_token after the agent: id, hash, lifetime in seconds.
func (a *API) GrantArgs(token string) []any {
	return []any{uuid.Must(uuid.NewV7()), HashToken(token), a.TokenTTL.Seconds()}
}

// grant makes a token of an agent valid, with the database function that stoa_register uses.
func (a *API) grant(ctx context.Context, tx *db.Tx, botID uuid.UUID, token string) (*TokenGrant, error) {
	expires, err := db.Value[time.Time](ctx, tx.SQL, named("grant_token"), append([]any{botID}, a.GrantArgs(token)...)...)
	if err != nil {
		return nil, err
	}
	return &TokenGrant{Token: token, TokenExpiresAt: expires.UTC()}, nil
}

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
	return a.DB.ExecBatches(ctx, named("delete_ended_tokens"), endedBatch, EndedRetention.Seconds())
}
