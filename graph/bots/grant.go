package bots

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/db"
)

// grant is the call of the function that makes every token (migrate/sql/0020_registration.sql); stoa_register calls it too.
const grant = `SELECT stoa_grant_token($1, $2, $3, make_interval(secs => $4))`

// granting are the arguments of stoa_grant_token behind the agent, its lifetime in seconds.
func (a *API) granting(token string) []any {
	return []any{uuid.Must(uuid.NewV7()), hashToken(token), a.TokenTTL.Seconds()}
}

// grantToken makes a live token for an agent.
func (a *API) grantToken(ctx context.Context, tx *db.Tx, botID uuid.UUID) (*TokenGrant, error) {
	granted := &TokenGrant{Token: newToken()}
	err := tx.SQL.QueryRowContext(ctx, grant, append([]any{botID}, a.granting(granted.Token)...)...).Scan(&granted.TokenExpiresAt)
	if err != nil {
		return nil, err
	}
	granted.TokenExpiresAt = granted.TokenExpiresAt.UTC()
	return granted, nil
}
