package bots

import (
	"context"
	"time"

	"stoa/ent/token"
	"stoa/graph/db"
	"stoa/graph/fault"
	"stoa/graph/viewer"
)

// TokenGrant is a new secret, shown once (§5).
type TokenGrant struct {
	Token          string    `json:"token"`
	TokenExpiresAt time.Time `json:"token_expires_at"`
}

// Revocation is the answer of RevokeToken.
type Revocation struct {
	Revoked bool `json:"revoked"`
}

// RotateToken replaces the presented token: the old one stops working as the new one begins (§3.3). Only an agent may call
// it. Of two rotations of one token at once, one gets unauthorized.
func (a *API) RotateToken(ctx context.Context) (*TokenGrant, error) {
	var granted *TokenGrant
	err := a.endToken(ctx, func(ctx context.Context, tx *db.Tx, v viewer.Viewer) error {
		var err error
		granted, err = a.grantToken(ctx, tx, v.BotID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return granted, nil
}

// RevokeToken ends the presented token and no other (§3.3). Only an agent may call it; nothing brings the token back.
func (a *API) RevokeToken(ctx context.Context) (*Revocation, error) {
	err := a.endToken(ctx, func(context.Context, *db.Tx, viewer.Viewer) error { return nil })
	if err != nil {
		return nil, err
	}
	return &Revocation{Revoked: true}, nil
}

func (a *API) endToken(ctx context.Context, then func(context.Context, *db.Tx, viewer.Viewer) error) error {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return err
	}
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		ended, err := tx.Ent.Token.Update().Where(token.ID(v.TokenID), token.RevokedAtIsNil()).SetRevokedAt(now).Save(ctx)
		if err != nil {
			return err
		}
		if ended == 0 {
			return fault.New(fault.Unauthorized)
		}
		tx.AfterCommit(a.TokensEnded)
		return then(ctx, tx, v)
	})
}
