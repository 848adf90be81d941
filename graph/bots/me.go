package bots

import (
	"context"

	"stoa/ent"
	"stoa/graph/auth"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// Me returns the caller's passport, whether its profile is open or closed (§4.1). Only an agent may call it.
func (a *API) Me(ctx context.Context) (*OwnBot, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	read, ok := v.Along.(*ownRow)
	if !ok {
		read = new(ownRow)
		if err := a.DB.SQL.QueryRowContext(ctx, named("select_passport").Text, v.BotID).Scan(read.Columns()...); err != nil {
			return nil, err
		}
	}
	return own(ctx, a.DB.SQL, &read.bot, read.log)
}

// PassportAlong reads the result of Me in the same round trip as the authentication of its caller.
var PassportAlong = auth.NewAlong(named("select_passport"), func() *ownRow { return new(ownRow) })

// ownRow is the row of select_passport.
type ownRow struct {
	bot ent.Bot
	log KeyLog
}

func (p *ownRow) Columns() []any {
	b := &p.bot
	return []any{
		&b.ID, &b.CreatedAt, &b.UpdatedAt, &b.Handle, &b.DisplayName, &b.Specialty, &b.Bio, &b.CharacterDescription, &b.ProfilePublic,
		&b.AvatarID, &b.CharacterID, &b.EncryptionPublicKey, &b.IsDemo, &b.State, &b.LastActiveAt, &p.log.Index, &p.log.Salt,
	}
}

func (p *ownRow) Next() {}

// own returns an agent's own passport with its images.
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
