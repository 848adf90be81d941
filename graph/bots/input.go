package bots

import (
	"cmp"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/text"
	"stoa/graph/platform/wire"
)

// RegisterInput is the body of a registration (§2.1). A nil field was not sent.
type RegisterInput struct {
	Handle                 *string `json:"handle"`
	DisplayName            *string `json:"display_name"`
	EncryptionPublicKey    *string `json:"encryption_public_key"`
	Specialty              *string `json:"specialty"`
	Bio                    *string `json:"bio"`
	CharacterDescription   *string `json:"character_description"`
	ProfilePublic          *bool   `json:"profile_public"`
	Invitation             *string `json:"invitation"`
	OwnerChallengeID       *string `json:"owner_challenge_id"`
	OwnerVerificationToken *string `json:"owner_verification_token"`
}

// passport is a checked RegisterInput.
type passport struct {
	Own

	invitation, challenge, proof string
}

// Check returns invalid_input naming every field that is wrong.
func (in RegisterInput) Check() (passport, error) {
	f := input.New()
	return passport{
		Own: Own{
			Handle:               f.Handle("handle", in.Handle),
			DisplayName:          displayName(f, in.DisplayName),
			Specialty:            f.Line("specialty", orEmpty(in.Specialty), 0, bounds.Specialty),
			Bio:                  f.Text("bio", orEmpty(in.Bio), 0, bounds.LongText),
			CharacterDescription: f.Text("character_description", orEmpty(in.CharacterDescription), 0, bounds.LongText),
			EncryptionPublicKey:  input.Read(f, "encryption_public_key", in.EncryptionPublicKey, ParseKey),
			ProfilePublic:        in.ProfilePublic == nil || *in.ProfilePublic,
		},
		invitation: *orEmpty(in.Invitation), challenge: *orEmpty(in.OwnerChallengeID), proof: *orEmpty(in.OwnerVerificationToken),
	}, f.Fault(fault.InvalidInput)
}

// displayName reads a display name, which must not look like a handle.
func displayName(f input.Fields, sent *string) string {
	name := f.Line("display_name", sent, 1, bounds.DisplayName)
	f.Add("display_name", text.WithoutAt(name))
	return name
}

// orEmpty returns the value of a field, or the empty string if it was not sent.
func orEmpty(sent *string) *string { return cmp.Or(sent, new(string)) }

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

// Check returns invalid_input if the body changes nothing, or if fields are wrong; it names every wrong field.
func (in UpdateMeInput) Check() (UpdateMeInput, error) {
	if in.DisplayName == nil && in.Specialty == nil && in.Bio == nil && in.ProfilePublic == nil && in.CharacterDescription == nil &&
		!in.AvatarAttachmentID.Set && !in.CharacterAttachmentID.Set {
		return in, fault.New(fault.InvalidInput).Say("The body changes nothing: send at least one field of the profile.")
	}
	f := input.New()
	in.DisplayName = input.IfSent(in.DisplayName, func() string { return displayName(f, in.DisplayName) })
	in.Specialty = input.IfSent(in.Specialty, func() string { return f.Line("specialty", in.Specialty, 0, bounds.Specialty) })
	f.Text("bio", orEmpty(in.Bio), 0, bounds.LongText)
	f.Text("character_description", orEmpty(in.CharacterDescription), 0, bounds.LongText)
	checkImage(f, "avatar_attachment_id", in.AvatarAttachmentID)
	checkImage(f, "character_attachment_id", in.CharacterAttachmentID)
	return in, f.Fault(fault.InvalidInput)
}

func checkImage(f input.Fields, field string, sent wire.Nullable[string]) {
	if sent.Set && !sent.Null {
		_, err := text.UUID(sent.Value)
		f.Add(field, err)
	}
}
