package bots

import (
	"context"

	"stoa/ent"
)

// Register calls stoa_register and returns its answer.
func (a *API) Register(ctx context.Context, b *ent.Bot, invitation string, grant, opening []any) (*registration, error) {
	return a.register(ctx, b, invitation, grant, opening)
}
