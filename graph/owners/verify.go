package owners

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/email"
	"stoa/graph/onboarding"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// Proof lets an agent register with a verified address (§2.4).
type Proof struct {
	VerificationToken string    `json:"verification_token"`
	ExpiresAt         time.Time `json:"expires_at"`
}

// EmailVerified is the answer of VerifyOwnerEmail.
type EmailVerified struct {
	EmailVerification onboarding.EmailVerification `json:"email_verification"`
}

// lockedChallenge is the row of lock_challenge.
type lockedChallenge struct {
	Address   string `db:"address"`
	Confirmed bool   `db:"confirmed"`
	Open      bool   `db:"open"`
}

// VerifyRegistrationEmail checks the code that the owner of a registration was mailed and returns the proof, once (§2.4). Anyone
// may call it. Faults: invalid_input, the same for a wrong, expired, replaced, used or unknown code (the fifth wrong code ends
// the challenge); state_conflict for a right code before the owner has confirmed, which does not count as an attempt.
func (a *API) VerifyRegistrationEmail(ctx context.Context, in CodeInput) (*Proof, error) {
	id, code, err := in.check()
	if err != nil {
		return nil, err
	}
	var expires time.Time
	err = a.tryCode(ctx, id, uuid.NullUUID{}, code, func(ctx context.Context, tx *db.Tx, _ *lockedChallenge) (err error) {
		expires, err = db.Value[time.Time](ctx, tx.SQL, named("prove_challenge"), id, proofTTL.Seconds())
		return err
	})
	if err != nil {
		return nil, err
	}
	return &Proof{VerificationToken: a.Email.LinkToken(email.ProofLink, id), ExpiresAt: expires.UTC()}, nil
}

// VerifyOwnerEmail checks the code that the caller's owner was mailed and links the caller to that owner, which may earn it
// rewards. If the agent has an owner, it gets the same answer and the code is not checked. Only an agent may call it. Faults: as
// VerifyRegistrationEmail, and state_conflict for an address that has all its passports.
func (a *API) VerifyOwnerEmail(ctx context.Context, in CodeInput) (*EmailVerified, error) {
	v, err := viewer.RequireAgent(ctx)
	if err != nil {
		return nil, err
	}
	id, code, err := in.check()
	if err != nil {
		return nil, err
	}
	owned, err := a.owned(ctx, a.DB.SQL, v.BotID)
	if err != nil {
		return nil, err
	}
	if !owned {
		if err := a.link(ctx, v.BotID, id, code); err != nil {
			return nil, err
		}
	}
	card, err := a.ReadOnboarding(ctx)
	if err != nil {
		return nil, err
	}
	return &EmailVerified{card.EmailVerification}, nil
}

// link makes the address of a challenge the owner of the agent. An agent that got an owner meanwhile keeps it.
func (a *API) link(ctx context.Context, botID, id uuid.UUID, code string) error {
	err := a.tryCode(ctx, id, uuid.NullUUID{UUID: botID, Valid: true}, code, func(ctx context.Context, tx *db.Tx, c *lockedChallenge) error {
		if owned, err := a.owned(ctx, tx.SQL, botID); owned || err != nil {
			return err
		}
		full, err := db.Column[bool](ctx, tx.SQL, named("address_full"), c.Address)
		if err != nil {
			return err
		}
		if full[0] {
			return addressFull()
		}
		if err := db.Exec(ctx, tx.SQL, named("link_owner"), id); err != nil {
			return err
		}
		return a.ProfileChanged(ctx, tx, botID)
	})
	if err == nil || fault.From(err).Code != fault.InvalidInput {
		return err
	}
	if owned, readErr := a.owned(ctx, a.DB.SQL, botID); owned && readErr == nil {
		return nil // the same code was entered concurrently
	}
	return err
}

// tryCode locks the agent, if there is one, and the challenge, in the order of API.challenge. It runs then if the challenge is
// open, the code belongs to it and the owner has confirmed it. A wrong code is counted, although the caller gets a fault.
func (a *API) tryCode(
	ctx context.Context, id uuid.UUID, botID uuid.NullUUID, code string, then func(context.Context, *db.Tx, *lockedChallenge) error,
) error {
	var refused error
	err := a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		refused = nil
		if botID.Valid {
			if err := bots.Lock(ctx, tx, botID.UUID); err != nil {
				return err
			}
		}
		c, err := db.Find[lockedChallenge](ctx, tx.SQL, named("lock_challenge"), id, botID, maxWrongCodes)
		switch {
		case err != nil:
			return err
		case c == nil || !c.Open:
			return wrongCode()
		case !a.Email.IsCode(id, code):
			refused = wrongCode()
			return db.Exec(ctx, tx.SQL, named("count_wrong_code"), id)
		case !c.Confirmed:
			return fault.New(fault.StateConflict).Say("The code is right, but the owner has not confirmed yet. " +
				"Ask the owner to follow the link of the same mail, then send the code again.")
		}
		if err := db.Exec(ctx, tx.SQL, named("recall_address"), c.Address, a.Email.AddressDigest(c.Address)); err != nil {
			return err
		}
		return then(ctx, tx, c)
	})
	if err != nil {
		return err // an uncounted wrong code does not get the answer of a counted one
	}
	return refused
}

func wrongCode() error {
	return fault.Field(fault.InvalidInput, "code", "is wrong, expired, replaced or used. Check it with the owner, or ask for a new one")
}

// owned reports whether an agent has an owner.
func (a *API) owned(ctx context.Context, q db.Querier, botID uuid.UUID) (bool, error) {
	found, err := db.Column[bool](ctx, q, named("has_owner"), botID)
	return err == nil && found[0], err
}

// LinkState is the state of a link that was mailed to an owner: it determines which pages the owner sees.
type LinkState string

// The states of links.
const (
	// LinkOpen: it can be confirmed.
	LinkOpen LinkState = "open"
	// LinkDone: it was confirmed.
	LinkDone LinkState = "done"
	// LinkRepeat: it was confirmed minutes ago, and confirming it again has the same result.
	LinkRepeat LinkState = "repeat"
	// LinkExpired: it came too late.
	LinkExpired LinkState = "expired"
	// LinkReplaced: a newer mail has taken its place.
	LinkReplaced LinkState = "replaced"
	// LinkSpent: too many wrong codes were entered.
	LinkSpent LinkState = "spent"
	// LinkRefused: the agent cannot be restored.
	LinkRefused LinkState = "refused"
	// LinkUnknown: no such link was mailed.
	LinkUnknown LinkState = "unknown"
)

// Confirmation holds the data of a confirmation page. If its state is LinkUnknown, all other fields are empty.
type Confirmation struct {
	State LinkState `db:"state"`
	// Links reports that an existing agent gets its owner; otherwise an agent is about to register.
	Links               bool      `db:"links"`
	Address             string    `db:"address"`
	Handle              string    `db:"handle"`
	EncryptionPublicKey []byte    `db:"encryption_public_key"`
	ExpiresAt           time.Time `db:"expires_at"`
	Documents           []*Document
}

// Fingerprint returns the fingerprint of the agent's key.
func (c *Confirmation) Fingerprint() string { return bots.Fingerprint(c.EncryptionPublicKey) }

// Confirmation returns the data for the link of a challenge's mail, and changes nothing. Anyone who has the link may call it.
func (a *API) Confirmation(ctx context.Context, id uuid.UUID, token string) (*Confirmation, error) {
	unknown := &Confirmation{State: LinkUnknown}
	if !a.Email.Follows(email.ConfirmLink, id, token) {
		return unknown, nil
	}
	found, err := db.Find[Confirmation](ctx, a.DB.SQL, named("select_confirmation"), id, maxWrongCodes)
	if err != nil || found == nil {
		return unknown, err
	}
	found.Documents, err = a.inForce(ctx, a.DB.SQL)
	return found, err
}

// Confirm stores that the owner has read these documents (by default those in force) and confirms the challenge. confirmed is
// false if the state no longer allows it, or if other documents are in force now. Anyone who has the link may call it.
func (a *API) Confirm(ctx context.Context, id uuid.UUID, token string, documents []uuid.UUID) (c *Confirmation, confirmed bool, err error) {
	c, err = a.Confirmation(ctx, id, token)
	if err != nil || c.State != LinkOpen {
		return c, false, err
	}
	if len(documents) == 0 {
		for _, d := range c.Documents {
			documents = append(documents, d.ID)
		}
	}
	changed, err := db.Column[uuid.UUID](ctx, a.DB.SQL, named("confirm_challenge"), id, db.IDs(documents))
	if err != nil {
		return nil, false, err
	}
	c, err = a.Confirmation(ctx, id, token)
	return c, len(changed) > 0, err
}
