package bots

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/wire"
)

// hanging is one image of a profile: what was sent for it, what is bound, and how it is stored.
type hanging struct {
	use   attachments.Use
	sent  wire.Nullable[string]
	bound *uuid.UUID
	set   func(uuid.UUID) *ent.BotUpdateOne
	clear func() *ent.BotUpdateOne
}

// changes returns the image that is to be bound, nil for none; false where nothing changes.
func (h hanging) changes() (*uuid.UUID, bool) {
	if !h.sent.Set || h.sent.Null {
		return nil, h.sent.Set && h.bound != nil
	}
	id, err := text.UUID(h.sent.Value)
	return &id, err == nil && (h.bound == nil || *h.bound != id)
}

// hang binds and unbinds images as the input says (§2.1), under the lock of the agent's row.
func (in UpdateMeInput) hang(ctx context.Context, tx *db.Tx, b *ent.Bot, update *ent.BotUpdateOne) error {
	images := []hanging{
		{attachments.AsAvatar, in.AvatarAttachmentID, b.AvatarID, update.SetAvatarID, update.ClearAvatarID},
		{attachments.AsCharacter, in.CharacterAttachmentID, b.CharacterID, update.SetCharacterID, update.ClearCharacterID},
	}
	confirmed := in.RightsConfirmed != nil && *in.RightsConfirmed
	for _, image := range images {
		if id, changes := image.changes(); changes && id != nil && !confirmed {
			return fault.Field(fault.PublicationRightsRequired, "rights_confirmed", "must be true when an image is bound")
		}
	}
	for _, image := range images {
		id, changes := image.changes()
		if !changes {
			continue
		}
		target := attachments.Target{Use: image.use, ID: b.ID}
		if id == nil {
			image.clear()
			if err := attachments.Unbind(ctx, tx, target); err != nil {
				return err
			}
			continue
		}
		image.set(*id)
		if err := attachments.Bind(ctx, tx, b.ID, target, []uuid.UUID{*id}); err != nil {
			return err
		}
	}
	return nil
}
