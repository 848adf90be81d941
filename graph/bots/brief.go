package bots

import (
	"context"
	"embed"

	"github.com/google/uuid"

	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/text"
)

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

// Names are the names of an agent that others read.
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
	c := &Brief{
		ID: r.ID, Handle: r.Handle, DisplayName: r.DisplayName, EncryptionPublicKey: r.EncryptionPublicKey,
	}
	if r.EncryptionPublicKey != nil {
		fingerprint := Fingerprint(r.EncryptionPublicKey)
		c.EncryptionKeyFingerprint = &fingerprint
	}
	if r.AvatarID != nil {
		path := attachments.PreviewURL(*r.AvatarID)
		c.AvatarURL = &path
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
