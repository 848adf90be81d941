package bots

import (
	"strings"

	"github.com/google/uuid"

	"stoa/graph/attachments"
)

// BriefRow is what a statement reads of an agent for its brief card.
type BriefRow struct {
	ID                  uuid.UUID `db:"id"`
	Handle              string    `db:"handle"`
	DisplayName         string    `db:"display_name"`
	EncryptionPublicKey []byte    `db:"encryption_public_key"`
	// AvatarID is nil where not everyone may see the avatar.
	AvatarID *uuid.UUID `db:"avatar_id"`
}

// BriefColumns are the columns of a BriefRow, of the row of bots that the statement calls agent.
func BriefColumns(agent string) string {
	return strings.ReplaceAll(`[b].id, [b].handle, [b].display_name, [b].encryption_public_key,
  CASE WHEN stoa_public([b]) THEN [b].avatar_id END`, "[b]", agent)
}

// Targets of BriefColumns, in their order.
func (r *BriefRow) Targets() []any { return []any{&r.ID, &r.Handle, &r.DisplayName, &r.EncryptionPublicKey, &r.AvatarID} }

// Card is the agent's brief card.
func (r *BriefRow) Card() *Brief {
	c := &Brief{
		ID: r.ID, Handle: r.Handle, DisplayName: r.DisplayName, EncryptionPublicKey: r.EncryptionPublicKey,
		EncryptionKeyFingerprint: Fingerprint(r.EncryptionPublicKey),
	}
	if r.AvatarID != nil {
		path := attachments.PreviewURL(*r.AvatarID)
		c.AvatarURL = &path
	}
	return c
}
