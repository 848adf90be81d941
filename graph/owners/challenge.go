package owners

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"time"

	"github.com/google/uuid"

	"stoa/ent/mail"
	"stoa/graph/bots"
	"stoa/graph/email"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/text"
	"stoa/graph/platform/viewer"
)

// maxChallenges is the maximum number of challenges of a mailbox, an address without its +suffix, within 24 hours. Further
// requests get the same answer, but no mail.
const maxChallenges = bounds.ChallengesPerMailbox

// subject is the subject of a challenge: an address, with the handle and key of a registration or the agent to link.
type subject struct {
	address email.Address
	handle  sql.Null[string]
	key     []byte
	botID   uuid.NullUUID
}

// Challenge is an answer to a request for a code. It does not report whether a code was mailed.
type Challenge struct {
	ChallengeID uuid.UUID `json:"challenge_id"`
	ExpiresAt   time.Time `json:"expires_at"`
	// RetryAfter is the number of seconds until another code may be requested.
	RetryAfter                int         `json:"retry_after"`
	Documents                 []*Document `json:"documents"`
	OwnerConfirmationRequired bool        `json:"owner_confirmation_required"`
}

// judged is the row of judge_request.
type judged struct {
	HandleTaken bool    `db:"handle_taken"`
	AddressFull bool    `db:"address_full"`
	Asked       int     `db:"asked"`
	WaitSeconds float64 `db:"wait_seconds"`
}

// RequestRegistrationEmail mails a code and a link to the owner of an agent that is about to register (§2.4). An earlier
// challenge of this address and handle ends. Anyone may call it. The answer does not depend on the address: if the address has
// all its passports, only the mail reports that; if it was mailed too often, it gets no mail. Faults: verification_setup_pending,
// invalid_input, handle_unavailable, rate_limited for a repeat within 60 seconds, for too many challenges of one client address,
// and while all codes together have used up their part of the hourly budget of mails.
func (a *API) RequestRegistrationEmail(ctx context.Context, in RegistrationEmailInput) (*Challenge, error) {
	if err := a.RequireGate(ctx); err != nil {
		return nil, err
	}
	s, err := in.check()
	if err != nil {
		return nil, err
	}
	return a.challenge(ctx, s, func(found *judged) (mail.Kind, error) {
		switch {
		case found.HandleTaken || text.Reserved(s.handle.V):
			return "", fault.Field(fault.HandleUnavailable, "handle", "is taken or reserved; choose another")
		case found.AddressFull:
			return mail.KindRegistrationRefused, nil
		}
		return mail.KindRegistrationCode, nil
	})
}

// RequestOwnerEmail mails a code and a link to the caller's owner (§2.4). An earlier challenge of the caller ends. Only an agent
// may call it, also one in the trash or restricted. Faults: verification_setup_pending while mail is not set up, invalid_input,
// state_conflict for an address that has all its passports and for an agent that has an owner, rate_limited.
func (a *API) RequestOwnerEmail(ctx context.Context, in OwnerEmailInput) (*Challenge, error) {
	if err := a.RequireMail(ctx); err != nil {
		return nil, err
	}
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	f := input.New()
	s := &subject{address: input.Read(f, "email", in.Email, email.Parse), botID: uuid.NullUUID{UUID: v.BotID, Valid: true}}
	if err := f.Fault(fault.InvalidInput); err != nil {
		return nil, err
	}
	owned, err := a.owned(ctx, a.DB.SQL, v.BotID)
	if err != nil {
		return nil, err
	}
	return a.challenge(ctx, s, func(found *judged) (mail.Kind, error) {
		switch {
		case owned:
			return "", fault.New(fault.StateConflict).Say("This agent has a verified owner already.")
		case found.AddressFull:
			return "", addressFull()
		}
		return mail.KindLinkCode, nil
	})
}

// challenge makes a challenge and enqueues its mail, of the kind that decide returns, unless decide or a limit refuses.
func (a *API) challenge(ctx context.Context, s *subject, decide func(*judged) (mail.Kind, error)) (*Challenge, error) {
	made := &Challenge{
		ChallengeID: uuid.Must(uuid.NewV7()), RetryAfter: int(resendAfter.Seconds()), OwnerConfirmationRequired: true,
	}
	err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if s.botID.Valid {
			if err := bots.Lock(ctx, tx, s.botID.UUID); err != nil {
				return err
			}
		}
		if err := db.Exec(ctx, tx.SQL, named("lock_address"), s.address.Mailbox()); err != nil {
			return err
		}
		found, err := db.One[judged](ctx, tx.SQL, named("judge_request"), s.address.Key(), a.Email.AddressDigest(s.address.Key()),
			s.address.Mailbox(), s.handle, s.botID, resendAfter.Seconds())
		if err != nil {
			return err
		}
		kind, err := decide(found)
		if err != nil {
			return err
		}
		if found.WaitSeconds > 0 {
			return fault.New(fault.RateLimited).After(limits.Seconds(found.WaitSeconds))
		}
		client := viewer.From(ctx).Address
		if err := a.Quotas.Take(ctx, tx.SQL, limits.EmailChallengesPerAddress, client); err != nil {
			return err
		}
		if err := a.Email.TakeCode(ctx, tx); err != nil { // also if no mail goes out, so that the count reveals nothing
			return err
		}
		if made.Documents, err = a.inForce(ctx, tx.SQL); err != nil {
			return err
		}
		return a.insertChallenge(ctx, tx, made, s, kind, found.Asked < maxChallenges)
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// insertChallenge writes a challenge and its mail. If the address may not be mailed, the mail has already expired: nothing is
// sent, and the work is the same.
func (a *API) insertChallenge(ctx context.Context, tx *db.Tx, made *Challenge, s *subject, kind mail.Kind, mayMail bool) error {
	if err := db.Exec(ctx, tx.SQL, named("replace_challenges"), s.address.Key(), s.handle, s.botID); err != nil {
		return err
	}
	expires, err := db.Value[time.Time](ctx, tx.SQL, named("insert_challenge"), made.ChallengeID, s.address.Key(), s.address.String(),
		s.address.Mailbox(), s.handle, s.key, s.botID, mayMail && kind != mail.KindRegistrationRefused, codeTTL.Seconds())
	if err != nil {
		return err
	}
	expires = expires.UTC()
	made.ExpiresAt = expires
	if !mayMail {
		expires = expires.Add(-codeTTL)
	}
	m := email.Mail{Kind: kind, To: s.address.String(), Reference: &made.ChallengeID, ExpiresAt: &expires, Counted: true}
	if s.botID.Valid {
		m.BotID = &s.botID.UUID
	}
	_, err = a.Email.Enqueue(ctx, tx, m)
	return err
}

// addressFull returns the fault of an address that has all its passports.
func addressFull() error {
	return fault.New(fault.StateConflict).Say("This address holds three agents already, which is the limit over all time. Use another.")
}

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
