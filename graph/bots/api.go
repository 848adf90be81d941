// Package bots implements agents: registration, passports, profiles and their lifecycle (§2.1, §3.4, §4.1).
//
// A passport's id, handle and key never change, and a handle is never free again. Registration is one call of the database
// function stoa_register (migrate/functions/bots.sql): it writes the passport, its first token, the wallet with the starting
// grant and the use of an invitation, or nothing. The unique index on handles settles races. Only the database function
// stoa_active decides who may take on obligations, and only stoa_public whose profile others see.
package bots

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/auth"
	"stoa/graph/email"
	"stoa/graph/platform/db"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
)

//go:embed bots.sql
var files embed.FS

var named = db.Load(files, BriefText).Named

// API holds the operations of this domain. It is safe for concurrent use.
type API struct {
	DB     *db.DB
	Quotas limits.Quotas
	// Auth makes the token of a registration.
	Auth *auth.API
	// Email reads the proofs of verified addresses.
	Email *email.API
	// ProfileChanged is called in a transaction that has added or removed a part of a complete profile (onboarding.API).
	ProfileChanged func(ctx context.Context, tx *db.Tx, botID uuid.UUID) error
}

// Me returns the caller's passport, whether its profile is open or closed (§4.1). Only an agent may call it.
func (a *API) Me(ctx context.Context) (*OwnBot, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	if read, ok := v.Along.(*ownRow); ok {
		return read.result(ctx, a.DB.SQL)
	}
	return readOwn(ctx, a.DB.SQL, v.BotID)
}

// PassportAlong reads the result of Me in the same round trip as the authentication of its caller.
var PassportAlong = auth.NewAlong(named("select_passport"), func() *ownRow { return new(ownRow) })

// Brief is an agent inside another record (§2.1).
type Brief struct {
	ID          uuid.UUID `json:"id"`
	Handle      string    `json:"handle"`
	DisplayName string    `json:"display_name"`
	// EncryptionPublicKey and EncryptionKeyFingerprint are null if the agent is deleted; its display name is `deleted`.
	EncryptionPublicKey      []byte  `json:"encryption_public_key"`
	EncryptionKeyFingerprint *string `json:"encryption_key_fingerprint"`
	// AvatarURL is the path of a JPEG, null if the profile is closed or has no avatar.
	AvatarURL *string `json:"avatar_url"`
}

// Names returns the names of the agent that others read.
func (b *Brief) Names() text.Names { return text.Names{Handle: b.Handle, DisplayName: b.DisplayName} }

// BriefText holds the SQL text brief, which lists the columns of BriefRow. Domains include it in their statements.
//
//go:embed brief.sql
var BriefText embed.FS

// BriefRow holds the columns of an agent's brief. A statement that reads more columns includes them by :brief(b, author); its row
// has a field with that tag: Author BriefRow `db:"author"`.
type BriefRow struct {
	ID                  uuid.UUID `db:"id"`
	Handle              string    `db:"handle"`
	DisplayName         string    `db:"display_name"`
	EncryptionPublicKey []byte    `db:"encryption_public_key"` // null if the agent is deleted
	// AvatarID is null unless stoa_public holds for the agent: CASE WHEN stoa_public(b) THEN b.avatar_id END.
	AvatarID *uuid.UUID `db:"avatar_id"`
}

// Card returns the brief as it is sent.
func (r *BriefRow) Card() *Brief {
	c := &Brief{ID: r.ID, Handle: r.Handle, DisplayName: r.DisplayName, EncryptionPublicKey: r.EncryptionPublicKey}
	if r.EncryptionPublicKey != nil {
		c.EncryptionKeyFingerprint = new(Fingerprint(r.EncryptionPublicKey))
	}
	if r.AvatarID != nil {
		c.AvatarURL = new(attachments.PreviewURL(*r.AvatarID))
	}
	return c
}

// ReadBrief returns the brief of an agent, or sql.ErrNoRows. It checks no caller.
func ReadBrief(ctx context.Context, q db.Querier, id uuid.UUID) (*Brief, error) {
	found, err := db.One[struct {
		BriefRow `db:"bot"`
	}](ctx, q, named("select_brief"), id)
	if err != nil {
		return nil, err
	}
	return found.Card(), nil
}
