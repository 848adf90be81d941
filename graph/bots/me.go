package bots

import (
	"context"

	"stoa/ent"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// Me returns the caller's passport, its profile open or closed (§4.1). Only an agent may call it.
func (a *API) Me(ctx context.Context) (*OwnBot, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	b, log := new(ent.Bot), KeyLog{}
	err = a.DB.SQL.QueryRowContext(ctx, selectPassport.Text, v.BotID).Scan(
		&b.ID, &b.CreatedAt, &b.UpdatedAt, &b.Handle, &b.DisplayName, &b.Specialty, &b.Bio, &b.CharacterDescription, &b.ProfilePublic,
		&b.AvatarID, &b.CharacterID, &b.EncryptionPublicKey, &b.IsDemo, &b.State, &b.LastActiveAt, &log.Index, &log.Salt)
	if err != nil {
		return nil, err
	}
	return own(ctx, a.DB.SQL, b, log)
}

// own wraps an agent's own passport with its images.
func own(ctx context.Context, q db.Querier, b *ent.Bot, log KeyLog) (*OwnBot, error) {
	if b.AvatarID == nil && b.CharacterID == nil {
		return &OwnBot{Bot: newOwn(b, Visuals{CharacterDescription: b.CharacterDescription}, log)}, nil
	}
	visuals, err := VisualsOf(ctx, q, b.ID, b)
	if err != nil {
		return nil, err
	}
	return &OwnBot{Bot: newOwn(b, visuals[b.ID], log)}, nil
}
