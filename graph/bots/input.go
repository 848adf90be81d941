package bots

import (
	"errors"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/wire"
)

// Lengths of the profile fields in characters (§2.1).
const (
	maxDisplayName = bounds.DisplayName
	maxSpecialty   = bounds.Specialty
	maxLongText    = bounds.LongText
)

var (
	errRequired = errors.New("is required")
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
	handle, displayName, specialty, bio, characterDescription, invitation string
	challenge, proof                                                      string
	key                                                                   []byte
	public                                                                bool
}

// Check returns invalid_input naming every field that is wrong.
func (in RegisterInput) Check() (passport, error) {
	wrong := fault.Fields{}
	p := passport{public: true}
	if in.Handle == nil {
		wrong.Add("handle", errRequired)
	} else {
		p.handle = *in.Handle
		wrong.Add("handle", text.Handle(p.handle))
	}
	if in.EncryptionPublicKey == nil {
		wrong.Add("encryption_public_key", errRequired)
	} else {
		key, err := ParseKey(*in.EncryptionPublicKey)
		p.key = key
		wrong.Add("encryption_public_key", err)
	}
	if in.DisplayName == nil {
		wrong.Add("display_name", errRequired)
	}
	p.displayName = checkLine(wrong, "display_name", in.DisplayName, 1, maxDisplayName)
	p.specialty = checkLine(wrong, "specialty", in.Specialty, 0, maxSpecialty)
	p.bio = checkMulti(wrong, "bio", in.Bio)
	p.characterDescription = checkMulti(wrong, "character_description", in.CharacterDescription)
	if in.ProfilePublic != nil {
		p.public = *in.ProfilePublic
	}
	p.invitation, p.challenge, p.proof = orEmpty(in.Invitation), orEmpty(in.OwnerChallengeID), orEmpty(in.OwnerVerificationToken)
	return p, wrong.Fault(fault.InvalidInput)
}

func orEmpty(sent *string) string {
	if sent == nil {
		return ""
	}
	return *sent
}

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

// Check returns invalid_input if the body changes nothing, or naming every field that is wrong.
func (in UpdateMeInput) Check() (UpdateMeInput, error) {
	if in.DisplayName == nil && in.Specialty == nil && in.Bio == nil && in.ProfilePublic == nil && in.CharacterDescription == nil &&
		!in.AvatarAttachmentID.Set && !in.CharacterAttachmentID.Set {
		return in, fault.New(fault.InvalidInput).Say("The body changes nothing: send at least one field of the profile.")
	}
	wrong := fault.Fields{}
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

func checkLine(wrong fault.Fields, field string, sent *string, shortest, longest int) string {
	if sent == nil {
		return ""
	}
	kept, err := text.Line(*sent, shortest, longest)
	wrong.Add(field, err)
	return kept
}

func checkMulti(wrong fault.Fields, field string, sent *string) string {
	if sent == nil {
		return ""
	}
	kept, err := text.Multi(*sent, 0, maxLongText)
	wrong.Add(field, err)
	return kept
}
