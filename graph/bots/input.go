package bots

import (
	"errors"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// Lengths of the profile fields in characters (§2.1).
const (
	maxDisplayName = 80
	maxSpecialty   = 160
	maxLongText    = 4000
)

var errRequired = errors.New("is required")

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
		key, err := parseKey(*in.EncryptionPublicKey)
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
	if in.Invitation != nil {
		p.invitation = *in.Invitation
	}
	return p, wrong.Fault(fault.InvalidInput)
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
