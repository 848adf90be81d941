package auth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent/bot"
	"stoa/ent/predicate"
	enttoken "stoa/ent/token"
	"stoa/graph/platform/db"
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
		if _, err := tx.SQL.ExecContext(ctx, named("lock_bot").Text, v.BotID); err != nil {
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
	granted := &TokenGrant{Token: token}
	err := tx.SQL.QueryRowContext(ctx, named("grant_token").Text, append([]any{botID}, a.GrantArgs(granted.Token)...)...).Scan(&granted.TokenExpiresAt)
	if err != nil {
		return nil, err
	}
	granted.TokenExpiresAt = granted.TokenExpiresAt.UTC()
	return granted, nil
}
