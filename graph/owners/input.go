package owners

import (
	"errors"
	"regexp"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/email"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

var (
	errRequired = errors.New("is required")
	errCode     = errors.New("must be the six digits of the mail")
)

// RegistrationEmailInput asks for a challenge for a registration (§2.4). A nil field was not sent.
type RegistrationEmailInput struct {
	Email               *string `json:"email"`
	Handle              *string `json:"handle"`
	EncryptionPublicKey *string `json:"encryption_public_key"`
}

// check returns the subject of the challenge, or invalid_input naming every field that is wrong.
func (in RegistrationEmailInput) check() (*subject, error) {
	wrong := fault.Fields{}
	s := &subject{address: checkEmail(wrong, in.Email)}
	if in.Handle == nil {
		wrong.Add("handle", errRequired)
	} else {
		wrong.Add("handle", text.Handle(*in.Handle))
		s.handle.V, s.handle.Valid = *in.Handle, true
	}
	if in.EncryptionPublicKey == nil {
		wrong.Add("encryption_public_key", errRequired)
	} else {
		key, err := bots.ParseKey(*in.EncryptionPublicKey)
		wrong.Add("encryption_public_key", err)
		s.key = key
	}
	return s, wrong.Fault(fault.InvalidInput)
}

// OwnerEmailInput asks for a challenge that links the caller to its owner.
type OwnerEmailInput struct {
	Email *string `json:"email"`
}

// CodeInput is a code that the owner has given to the agent.
type CodeInput struct {
	ChallengeID *string `json:"challenge_id"`
	Code        *string `json:"code"`
}

var codeForm = regexp.MustCompile(`^[0-9]{6}$`)

// check returns the challenge and the code, or invalid_input naming every field that is wrong.
func (in CodeInput) check() (challenge uuid.UUID, code string, err error) {
	wrong := fault.Fields{}
	if in.ChallengeID == nil {
		wrong.Add("challenge_id", errRequired)
	} else {
		challenge, err = text.UUID(*in.ChallengeID)
		wrong.Add("challenge_id", err)
	}
	if in.Code == nil {
		wrong.Add("code", errRequired)
	} else if code = *in.Code; !codeForm.MatchString(code) {
		wrong.Add("code", errCode)
	}
	return challenge, code, wrong.Fault(fault.InvalidInput)
}

// RestoreInput asks for a link that restores access to an agent.
type RestoreInput struct {
	Handle *string `json:"handle"`
	Email  *string `json:"email"`
}

// check returns the handle and the address, or invalid_input naming every field that is wrong.
func (in RestoreInput) check() (handle string, address email.Address, err error) {
	wrong := fault.Fields{}
	if in.Handle == nil {
		wrong.Add("handle", errRequired)
	} else {
		handle = *in.Handle
		wrong.Add("handle", text.Handle(handle))
	}
	address = checkEmail(wrong, in.Email)
	return handle, address, wrong.Fault(fault.InvalidInput)
}

func checkEmail(wrong fault.Fields, sent *string) email.Address {
	if sent == nil {
		wrong.Add("email", errRequired)
		return email.Address{}
	}
	address, err := email.Parse(*sent)
	wrong.Add("email", err)
	return address
}
