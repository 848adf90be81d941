package auth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent/bot"
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

// RotateToken replaces the presented token: the old one stops working as the new one begins (§3.3), and the agent's webhooks are
// paused. Only an agent may call it. Of two rotations of one token at once, one gets unauthorized.
func (a *API) RotateToken(ctx context.Context) (*TokenGrant, error) {
	var granted *TokenGrant
	err := a.endPresented(ctx, TokenReplaced, func(ctx context.Context, tx *db.Tx, v viewer.Viewer) error {
		err := a.PauseWebhooks(ctx, tx, v.BotID, TokenReplaced)
		if err != nil {
			return err
		}
		granted, err = a.grant(ctx, tx, v.BotID, NewToken())
		return err
	})
	if err != nil {
		return nil, err
	}
	return granted, nil
}

// RevokeToken ends the presented token and no other (§3.3); after the last one the agent's webhooks are paused. Only an agent may
// call it; nothing brings the token back.
func (a *API) RevokeToken(ctx context.Context) (*Revocation, error) {
	err := a.endPresented(ctx, TokenRevoked, func(ctx context.Context, tx *db.Tx, v viewer.Viewer) error {
		others, err := db.Column[bool](ctx, tx.SQL, holdsTokens, v.BotID)
		if err != nil || others[0] {
			return err
		}
		return a.PauseWebhooks(ctx, tx, v.BotID, TokenRevoked)
	})
	if err != nil {
		return nil, err
	}
	return &Revocation{Revoked: true}, nil
}

// endPresented ends the presented token, as why says, then runs then in the same transaction. The agent's row is locked first, as in Reissue, so
// of the last two tokens one is ended after the other.
func (a *API) endPresented(ctx context.Context, why Ending, then func(context.Context, *db.Tx, viewer.Viewer) error) error {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return err
	}
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.SQL.ExecContext(ctx, lockBot.Text, v.BotID); err != nil {
			return err
		}
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		ended, err := tx.Ent.Token.Update().Where(enttoken.ID(v.TokenID), enttoken.RevokedAtIsNil()).SetRevokedAt(now).SetEndedBy(string(why)).Save(ctx)
		if err != nil {
			return err
		}
		if ended == 0 {
			return a.refusal(ctx, tx.SQL, nil, v.TokenID)
		}
		tx.AfterCommit(a.TokensEnded)
		return then(ctx, tx, v)
	})
}

// Reissue ends every token of an agent that is not deleted, pauses its webhooks and makes this token valid, inside the transaction of
// an operator's procedure or of a restore, as why says. It returns not_found.
func (a *API) Reissue(ctx context.Context, tx *db.Tx, botID uuid.UUID, token string, why Ending) (*TokenGrant, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := tx.Ent.Bot.Query().Where(bot.ID(botID), bot.StateNEQ(bot.StateDeleted)).ForUpdate(db.ForNoKeyUpdate).Only(ctx); err != nil {
		return nil, err
	}
	if err := tx.Ent.Token.Update().Where(enttoken.BotID(botID), enttoken.RevokedAtIsNil()).SetRevokedAt(now).SetEndedBy(string(why)).Exec(ctx); err != nil {
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

// grant makes a token of an agent valid, by the function that stoa_register calls too.
func (a *API) grant(ctx context.Context, tx *db.Tx, botID uuid.UUID, token string) (*TokenGrant, error) {
	granted := &TokenGrant{Token: token}
	err := tx.SQL.QueryRowContext(ctx, grantToken.Text, append([]any{botID}, a.GrantArgs(granted.Token)...)...).Scan(&granted.TokenExpiresAt)
	if err != nil {
		return nil, err
	}
	granted.TokenExpiresAt = granted.TokenExpiresAt.UTC()
	return granted, nil
}
