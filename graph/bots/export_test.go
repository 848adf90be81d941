package bots

import (
	"context"
)

// Register calls stoa_register without a proof and returns its answer.
func (a *API) Register(ctx context.Context, b *Own, invitation string, grant, opening []any) (*registration, error) {
	return a.register(ctx, b, invitation, proof{}, grant, opening)
}
