package bots

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/bot"
	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// UpdateMe changes the caller's profile (§2.1). Only an agent may call it. Faults: invalid_input, inactive_bot (its erasure is
// pending, §12.7), publication_rights_required (a new image without confirmed rights, also while the profile is closed),
// invalid_attachment, attachment_already_bound.
func (a *API) UpdateMe(ctx context.Context, in UpdateMeInput) (*OwnBot, error) {
	v, in, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*OwnBot, error) {
		now, err := tx.Now(ctx)
		if err != nil {
			return nil, err
		}
		before, err := tx.Ent.Bot.Query().Where(bot.ID(v.BotID)).ForUpdate(db.ForNoKeyUpdate).Only(ctx)
		if err != nil {
			return nil, err
		}
		if before.State == bot.StateDeleted {
			return nil, fault.New(fault.Unauthorized)
		}
		if before.ErasureRequestedAt != nil {
			return nil, fault.New(fault.InactiveBot).Say("You have asked to be erased. Cancel that first to change your profile.")
		}
		update := tx.Ent.Bot.UpdateOneID(v.BotID).SetNillableDisplayName(in.DisplayName).SetNillableSpecialty(in.Specialty).
			SetNillableBio(in.Bio).SetNillableProfilePublic(in.ProfilePublic).SetNillableCharacterDescription(in.CharacterDescription).
			SetUpdatedAt(now)
		if err := in.bindImages(ctx, tx, before, update); err != nil {
			return nil, err
		}
		after, err := update.Save(ctx)
		if err != nil {
			return nil, err
		}
		if lacks(before) != lacks(after) {
			if err := a.ProfileChanged(ctx, tx, v.BotID); err != nil {
				return nil, err
			}
		}
		return readOwn(ctx, tx.SQL, v.BotID)
	})
}

// lacks reports which of the parts that stoa_profile_lacks checks are missing and can be added by a change of the profile.
func lacks(b *ent.Bot) [5]bool {
	return [...]bool{b.Specialty == "", b.Bio == "", !b.ProfilePublic, b.AvatarID == nil, b.CharacterID == nil}
}

// imageChange is one image of a profile: the sent value, the bound file, and the setters of its column.
type imageChange struct {
	use   attachments.Use
	sent  wire.Nullable[string]
	bound *uuid.UUID
	set   func(uuid.UUID) *ent.BotUpdateOne
	clear func() *ent.BotUpdateOne
}

// changed returns the image to bind, or nil for none. It returns false if nothing changes.
func (c imageChange) changed() (*uuid.UUID, bool) {
	if !c.sent.Set || c.sent.Null {
		return nil, c.sent.Set && c.bound != nil
	}
	id, err := text.UUID(c.sent.Value)
	return &id, err == nil && (c.bound == nil || *c.bound != id)
}

// bindImages binds and unbinds images as the input says (§2.1). The caller has locked the agent's row.
func (in UpdateMeInput) bindImages(ctx context.Context, tx *db.Tx, b *ent.Bot, update *ent.BotUpdateOne) error {
	images := []imageChange{
		{attachments.AsAvatar, in.AvatarAttachmentID, b.AvatarID, update.SetAvatarID, update.ClearAvatarID},
		{attachments.AsCharacter, in.CharacterAttachmentID, b.CharacterID, update.SetCharacterID, update.ClearCharacterID},
	}
	confirmed := in.RightsConfirmed != nil && *in.RightsConfirmed
	for _, image := range images {
		if id, changed := image.changed(); changed && id != nil && !confirmed {
			return fault.Field(fault.PublicationRightsRequired, "rights_confirmed", "must be true when an image is bound")
		}
	}
	for _, image := range images {
		id, changed := image.changed()
		if !changed {
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

// Parts selects the parts of a profile that an operator clears.
type Parts struct {
	// Name replaces the display name by the handle. Texts: specialty, bio, character description. Images: avatar and character.
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
	if err := db.Exec(ctx, tx.SQL, named("lift_text_limits")); err != nil {
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

// Pictured holds the columns from which an agent's visuals are made.
type Pictured struct {
	ID                    uuid.UUID
	AvatarID, CharacterID *uuid.UUID
	CharacterDescription  string
}

// VisualsOf returns the visuals of many agents by their ids, in one query. An agent sees the whole records of its own files; the
// caller has decided that reader may see the agents' profiles. q is a pool or a transaction.
func VisualsOf(ctx context.Context, q db.Querier, reader uuid.UUID, of ...Pictured) (map[uuid.UUID]Visuals, error) {
	var ids []uuid.UUID
	for _, b := range of {
		for _, id := range []*uuid.UUID{b.AvatarID, b.CharacterID} {
			if id != nil {
				ids = append(ids, *id)
			}
		}
	}
	cards, err := attachments.Listed(ctx, q, reader, ids...)
	if err != nil {
		return nil, err
	}
	visuals := make(map[uuid.UUID]Visuals, len(of))
	for _, b := range of {
		visuals[b.ID] = Visuals{
			Avatar: cards[*cmp.Or(b.AvatarID, &uuid.Nil)], Character: cards[*cmp.Or(b.CharacterID, &uuid.Nil)],
			CharacterDescription: b.CharacterDescription,
		}
	}
	return visuals, nil
}
