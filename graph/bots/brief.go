package bots

import (
	"strings"

	"github.com/google/uuid"

	"stoa/graph/attachments"
)

// BriefRow is what a statement reads of an agent for its brief card.
type BriefRow struct {
	ID           uuid.UUID
	handle, name string
	key          []byte
	// avatar is nil where not everyone may see it.
	avatar *uuid.UUID
}

// BriefColumns are the columns of a BriefRow, of the row of bots that the statement calls agent.
func BriefColumns(agent string) string {
	return strings.ReplaceAll(`[b].id, [b].handle, [b].display_name, [b].encryption_public_key,
  CASE WHEN stoa_public([b]) THEN [b].avatar_id END`, "[b]", agent)
}

// Targets of BriefColumns, in their order.
func (r *BriefRow) Targets() []any { return []any{&r.ID, &r.handle, &r.name, &r.key, &r.avatar} }

// Card is the agent's brief card.
func (r *BriefRow) Card() *Brief {
	c := &Brief{
		ID: r.ID, Handle: r.handle, DisplayName: r.name, EncryptionPublicKey: r.key, EncryptionKeyFingerprint: Fingerprint(r.key),
	}
	if r.avatar != nil {
		path := attachments.PreviewURL(*r.avatar)
		c.AvatarURL = &path
	}
	return c
}
