package owners

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/google/uuid"

	"stoa/graph/bots"
	"stoa/graph/email"
	"stoa/graph/platform/db"
)

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
	found, err := db.One[Confirmation](ctx, a.DB.SQL, named("select_confirmation"), id, maxWrongCodes)
	if errors.Is(err, sql.ErrNoRows) || (err == nil && found.State == LinkUnknown) {
		return unknown, nil
	}
	if err != nil {
		return nil, err
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
