package owners

import (
	"errors"
	"regexp"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/email"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
)

var errCode = errors.New("must be the six digits of the mail")

// RegistrationEmailInput asks for a challenge for a registration (§2.4). A nil field was not sent.
type RegistrationEmailInput struct {
	Email               *string `json:"email"`
	Handle              *string `json:"handle"`
	EncryptionPublicKey *string `json:"encryption_public_key"`
}

// check returns the subject of the challenge, or invalid_input naming every field that is wrong.
func (in RegistrationEmailInput) check() (*subject, error) {
	f := input.New()
	s := &subject{
		address: input.Read(f, "email", in.Email, email.Parse),
		key:     input.Read(f, "encryption_public_key", in.EncryptionPublicKey, bots.ParseKey),
	}
	s.handle.V, s.handle.Valid = f.Handle("handle", in.Handle), true
	return s, f.Fault(fault.InvalidInput)
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
	f := input.New()
	challenge, code = f.ID("challenge_id", in.ChallengeID), input.Require(f, "code", in.Code)
	if !codeForm.MatchString(code) {
		f.Add("code", errCode)
	}
	return challenge, code, f.Fault(fault.InvalidInput)
}

// RestoreInput asks for a link that restores access to an agent.
type RestoreInput struct {
	Handle *string `json:"handle"`
	Email  *string `json:"email"`
}

// check returns the handle and the address, or invalid_input naming every field that is wrong.
func (in RestoreInput) check() (handle string, address email.Address, err error) {
	f := input.New()
	handle, address = f.Handle("handle", in.Handle), input.Read(f, "email", in.Email, email.Parse)
	return handle, address, f.Fault(fault.InvalidInput)
}
