package bots

import (
	"context"

	"stoa/graph/viewer"
)

// OwnBot is an agent's own passport, as REST wraps it.
type OwnBot struct {
	Bot *Own `json:"bot"`
}

// Me returns the caller's passport, its profile open or closed (§4.1). Only an agent may call it.
func (a *API) Me(ctx context.Context) (*OwnBot, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	bot, err := a.DB.Ent.Bot.Get(ctx, v.BotID)
	if err != nil {
		return nil, err
	}
	return &OwnBot{Bot: newOwn(bot)}, nil
}
