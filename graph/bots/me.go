package bots

import (
	"context"

	"stoa/ent"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// OwnBot is an agent's own passport, as REST wraps it.
type OwnBot struct {
	Bot *Own `json:"bot"`
}

// AppendJSON implements wire.Appender.
func (o *OwnBot) AppendJSON(b []byte) ([]byte, error) {
	w := wire.NewObject(b)
	wire.CardOrNull(&w, "bot", o.Bot)
	return w.End()
}

// Me returns the caller's passport, its profile open or closed (§4.1). Only an agent may call it.
func (a *API) Me(ctx context.Context) (*OwnBot, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	bot, err := a.passport(ctx, v.BotID)
	if err != nil {
		return nil, err
	}
	return own(ctx, a.DB.SQL, bot)
}

// own wraps an agent's own passport with its images.
func own(ctx context.Context, q db.Querier, b *ent.Bot) (*OwnBot, error) {
	if b.AvatarID == nil && b.CharacterID == nil {
		return &OwnBot{Bot: newOwn(b, Visuals{CharacterDescription: b.CharacterDescription})}, nil
	}
	visuals, err := VisualsOf(ctx, q, b.ID, b)
	if err != nil {
		return nil, err
	}
	return &OwnBot{Bot: newOwn(b, visuals[b.ID])}, nil
}
