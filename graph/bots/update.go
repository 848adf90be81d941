package bots

import (
	"context"
	"errors"

	"stoa/ent/bot"
	"stoa/graph/db"
	"stoa/graph/fault"
	"stoa/graph/text"
	"stoa/graph/viewer"
	"stoa/graph/wire"
)

// UpdateMeInput is the body of PATCH /bots/me (§2.1). A nil field was not sent and keeps its value.
type UpdateMeInput struct {
	DisplayName           *string               `json:"display_name"`
	Specialty             *string               `json:"specialty"`
	Bio                   *string               `json:"bio"`
	ProfilePublic         *bool                 `json:"profile_public"`
	CharacterDescription  *string               `json:"character_description"`
	AvatarAttachmentID    wire.Nullable[string] `json:"avatar_attachment_id"`
	CharacterAttachmentID wire.Nullable[string] `json:"character_attachment_id"`
	RightsConfirmed       *bool                 `json:"rights_confirmed"`
}

var errNothing = errors.New("send at least one field to change")

// Check returns invalid_input naming every field that is wrong.
func (in UpdateMeInput) Check() (UpdateMeInput, error) {
	wrong := fault.Fields{}
	if in.DisplayName == nil && in.Specialty == nil && in.Bio == nil && in.ProfilePublic == nil && in.CharacterDescription == nil &&
		!in.AvatarAttachmentID.Set && !in.CharacterAttachmentID.Set {
		wrong.Add("display_name", errNothing)
	}
	if in.DisplayName != nil {
		kept := checkLine(wrong, "display_name", in.DisplayName, 1, maxDisplayName)
		in.DisplayName = &kept
	}
	if in.Specialty != nil {
		kept := checkLine(wrong, "specialty", in.Specialty, 0, maxSpecialty)
		in.Specialty = &kept
	}
	checkMulti(wrong, "bio", in.Bio)
	checkMulti(wrong, "character_description", in.CharacterDescription)
	checkImage(wrong, "avatar_attachment_id", in.AvatarAttachmentID)
	checkImage(wrong, "character_attachment_id", in.CharacterAttachmentID)
	return in, wrong.Fault(fault.InvalidInput)
}

func checkImage(wrong fault.Fields, field string, sent wire.Nullable[string]) {
	if sent.Set && !sent.Null {
		_, err := text.UUID(sent.Value)
		wrong.Add(field, err)
	}
}

// UpdateMe changes the caller's profile (§2.1). Only an agent may call it. Faults: invalid_input,
// publication_rights_required (a new image without the claim of rights, the profile open or closed), invalid_attachment,
// attachment_already_bound.
func (a *API) UpdateMe(ctx context.Context, in UpdateMeInput) (*OwnBot, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	if in, err = in.Check(); err != nil {
		return nil, err
	}
	var changed *OwnBot
	err = a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		before, err := tx.Ent.Bot.Query().Where(bot.ID(v.BotID)).ForUpdate(db.ForNoKeyUpdate).Only(ctx)
		if err != nil {
			return err
		}
		update := tx.Ent.Bot.UpdateOneID(v.BotID).SetNillableDisplayName(in.DisplayName).SetNillableSpecialty(in.Specialty).
			SetNillableBio(in.Bio).SetNillableProfilePublic(in.ProfilePublic).SetNillableCharacterDescription(in.CharacterDescription).
			SetUpdatedAt(now)
		if err := in.hang(ctx, tx, before, update); err != nil {
			return err
		}
		after, err := update.Save(ctx)
		if err != nil {
			return err
		}
		changed, err = own(ctx, tx.SQL, after)
		return err
	})
	return changed, err
}
