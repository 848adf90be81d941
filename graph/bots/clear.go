package bots

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/attachments"
	"stoa/graph/platform/db"
)

// Parts are parts of a profile that an operator may clear.
type Parts struct {
	// Name becomes the handle. Texts are specialty, bio and character description. Images are avatar and character.
	Name, Texts, Images bool
}

// Clear empties parts of the profile of an agent that is not deleted, in the transaction of an operator's procedure (§10). The
// agent keeps the files of the images. Faults: not_found.
func (a *API) Clear(ctx context.Context, tx *db.Tx, botID uuid.UUID, parts Parts) (*ent.Bot, error) {
	now, err := tx.Now(ctx)
	if err != nil {
		return nil, err
	}
	before, err := tx.Ent.Bot.Query().Where(bot.ID(botID), bot.StateNEQ(bot.StateDeleted)).ForUpdate(db.ForNoKeyUpdate).Only(ctx)
	if err != nil {
		return nil, err
	}
	update := tx.Ent.Bot.UpdateOneID(botID).SetUpdatedAt(now)
	if parts.Name {
		update.SetDisplayName(before.Handle)
	}
	if parts.Texts {
		update.SetSpecialty("").SetBio("").SetCharacterDescription("")
	}
	if parts.Images {
		update.ClearAvatarID().ClearCharacterID()
		for _, use := range []attachments.Use{attachments.AsAvatar, attachments.AsCharacter} {
			if err := attachments.Unbind(ctx, tx, attachments.Target{Use: use, ID: botID}); err != nil {
				return nil, err
			}
		}
	}
	after, err := update.Save(ctx)
	if err != nil || lacks(before) == lacks(after) {
		return after, err
	}
	return after, a.ProfileChanged(ctx, tx, botID)
}
