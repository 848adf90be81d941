package bots

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
)

// passportColumns are all that a passport shows, of the agent b.
const passportColumns = `b.id, b.created_at, b.updated_at, b.handle, b.display_name, b.specialty, b.bio, b.character_description, b.profile_public,
  b.avatar_id, b.character_id, b.encryption_public_key, b.is_demo, b.state, b.last_active_at`

// passportTargets of passportColumns, in their order.
func passportTargets(b *ent.Bot) []any {
	return []any{
		&b.ID, &b.CreatedAt, &b.UpdatedAt, &b.Handle, &b.DisplayName, &b.Specialty, &b.Bio, &b.CharacterDescription, &b.ProfilePublic,
		&b.AvatarID, &b.CharacterID, &b.EncryptionPublicKey, &b.IsDemo, &b.State, &b.LastActiveAt,
	}
}

type passportKey struct{}

// WithPassport returns a context in which Admit, reading, reads the caller's passport in the same statement, and from which
// Me answers with it: the request costs one round trip. It is for one request that is about to call Me and changes nothing; the
// viewer that Admit returns then has no TokenID.
func WithPassport(ctx context.Context) context.Context {
	return context.WithValue(ctx, passportKey{}, new(ent.Bot))
}

// wanted is where Admit puts the passport, nil where nobody asked for it.
func wanted(ctx context.Context) *ent.Bot {
	b, _ := ctx.Value(passportKey{}).(*ent.Bot)
	return b
}

// passport returns the one that admission has read of an agent, or reads it now.
func (a *API) passport(ctx context.Context, botID uuid.UUID) (*ent.Bot, error) {
	if b := wanted(ctx); b != nil && b.ID == botID {
		return b, nil
	}
	return a.DB.Ent.Bot.Get(ctx, botID)
}
