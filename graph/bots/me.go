package bots

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/auth"
	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

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

// passportColumns are the columns of the agent b that its passport shows.
const passportColumns = `b.id, b.created_at, b.updated_at, b.handle, b.display_name, b.specialty, b.bio, b.character_description, b.profile_public,
  b.avatar_id, b.character_id, b.encryption_public_key, b.is_demo, b.state, b.last_active_at`

// passportTargets of passportColumns, in their order.
func passportTargets(b *ent.Bot) []any {
	return []any{
		&b.ID, &b.CreatedAt, &b.UpdatedAt, &b.Handle, &b.DisplayName, &b.Specialty, &b.Bio, &b.CharacterDescription, &b.ProfilePublic,
		&b.AvatarID, &b.CharacterID, &b.EncryptionPublicKey, &b.IsDemo, &b.State, &b.LastActiveAt,
	}
}

// attachedPassport reads the passport of the agent who is being authenticated.
var attachedPassport = auth.NewQuery(
	&db.Statement{Text: `SELECT ` + passportColumns + ` FROM bots b WHERE b.id = $1`}, len(passportTargets(new(ent.Bot))),
)

// ownPassport is the row of attachedPassport.
type ownPassport struct{ ent.Bot }

// Next implements auth.RowSink.
func (p *ownPassport) Next(row []any) { copy(row, passportTargets(&p.Bot)) }

// PiggybackMe attaches the passport to the authentication of a caller that is about to call Me.
func (a *API) PiggybackMe(ctx context.Context) context.Context {
	return auth.Attach(ctx, attachedPassport, new(ownPassport))
}

// passport returns the one that was read with the agent's authentication, or reads it now.
func (a *API) passport(ctx context.Context, botID uuid.UUID) (*ent.Bot, error) {
	if read, ok := auth.ResultFrom[*ownPassport](ctx, botID); ok {
		return &read.Bot, nil
	}
	return a.DB.Ent.Bot.Get(ctx, botID)
}
