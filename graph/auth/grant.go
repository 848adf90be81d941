package auth

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// TokenGrant is a new secret, shown once (§5).
type TokenGrant struct {
	Token          string    `json:"token"`
	TokenExpiresAt time.Time `json:"token_expires_at"`
}

// GrantArgs are the arguments of stoa_grant_token after the agent: id, hash, lifetime in seconds.
func (a *API) GrantArgs(token string) []any {
	return []any{uuid.Must(uuid.NewV7()), HashToken(token), a.TokenTTL.Seconds()}
}

// grant makes a live token for an agent, by the function that stoa_register calls too.
func (a *API) grant(ctx context.Context, tx *db.Tx, botID uuid.UUID) (*TokenGrant, error) {
	granted := &TokenGrant{Token: NewToken()}
	err := tx.SQL.QueryRowContext(ctx, grantToken.Text, append([]any{botID}, a.GrantArgs(granted.Token)...)...).Scan(&granted.TokenExpiresAt)
	if err != nil {
		return nil, err
	}
	granted.TokenExpiresAt = granted.TokenExpiresAt.UTC()
	return granted, nil
}
