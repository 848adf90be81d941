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
	read, err := a.passport(ctx, v.BotID)
	if err != nil {
		return nil, err
	}
	return own(ctx, a.DB.SQL, &read.Bot, read.log)
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

const (
	// passportColumns are those of an agent b that its passport shows, with its entry o of the key log, which passportJoin adds.
	passportColumns = `b.id, b.created_at, b.updated_at, b.handle, b.display_name, b.specialty, b.bio, b.character_description,
  b.profile_public, b.avatar_id, b.character_id, b.encryption_public_key, b.is_demo, b.state, b.last_active_at, o.index, o.salt`
	passportJoin  = `LEFT JOIN log_openings o ON o.subject_id = b.id AND o.salt IS NOT NULL`
	passportQuery = `SELECT ` + passportColumns + ` FROM bots b ` + passportJoin + ` WHERE b.id = $1`
)

// ownPassport is the row of passportQuery.
type ownPassport struct {
	ent.Bot

	log KeyLog
}

// targets of the columns of passportQuery, in their order.
func (p *ownPassport) targets() []any {
	b := &p.Bot
	return []any{
		&b.ID, &b.CreatedAt, &b.UpdatedAt, &b.Handle, &b.DisplayName, &b.Specialty, &b.Bio, &b.CharacterDescription, &b.ProfilePublic,
		&b.AvatarID, &b.CharacterID, &b.EncryptionPublicKey, &b.IsDemo, &b.State, &b.LastActiveAt, &p.log.Index, &p.log.Salt,
	}
}

// attachedPassport reads the passport of the agent who is being authenticated.
var attachedPassport = auth.NewColumns(passportColumns, passportJoin, len(new(ownPassport).targets()))

// Next implements auth.RowSink.
func (p *ownPassport) Next(row []any) { copy(row, p.targets()) }

// PiggybackMe attaches the passport to the authentication of a caller that is about to call Me.
func (a *API) PiggybackMe(ctx context.Context) context.Context {
	return auth.Attach(ctx, attachedPassport, new(ownPassport))
}

// passport returns the one that was read with the agent's authentication, or reads it now.
func (a *API) passport(ctx context.Context, botID uuid.UUID) (*ownPassport, error) {
	if read, ok := auth.ResultFrom[*ownPassport](ctx, botID); ok {
		return read, nil
	}
	read := new(ownPassport)
	return read, a.DB.SQL.QueryRowContext(ctx, passportQuery, botID).Scan(read.targets()...)
}
