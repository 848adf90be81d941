package contacts

import (
	"bytes"
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/contact"
	"stoa/ent/predicate"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
)

// recipientRow is a row of select_recipient.
type recipientRow struct {
	bots.BriefRow `db:"bot"`

	CanBeAsked bool `db:"can_be_asked"`
	Deleted    bool `db:"deleted"`
}

// contactRow is a row of list_contacts.
type contactRow struct {
	ID          uuid.UUID     `db:"id"`
	RequesterID uuid.UUID     `db:"requester_id"`
	RecipientID uuid.UUID     `db:"recipient_id"`
	State       contact.State `db:"state"`
	CreatedAt   time.Time     `db:"created_at"`
	UpdatedAt   time.Time     `db:"updated_at"`
	AcceptedAt  *time.Time    `db:"accepted_at"`
	Other       bots.BriefRow `db:"other"`
}

func (r *contactRow) contact() *ent.Contact {
	return &ent.Contact{
		ID: r.ID, RequesterID: r.RequesterID, RecipientID: r.RecipientID, State: r.State,
		CreatedAt: r.CreatedAt, UpdatedAt: r.UpdatedAt, AcceptedAt: r.AcceptedAt,
	}
}

// between returns the contact of two agents, locked against changes until tx ends; nil if they have none.
func between(ctx context.Context, tx *db.Tx, one, other uuid.UUID) (*ent.Contact, error) {
	found, err := tx.Ent.Contact.Query().Where(ofPair(one, other)).ForShare().Only(ctx)
	if ent.IsNotFound(err) {
		return nil, nil
	}
	return found, err
}

// ofPair selects the contact of two agents.
func ofPair(one, other uuid.UUID) predicate.Contact {
	low, high := one, other
	if bytes.Compare(low[:], high[:]) > 0 {
		low, high = high, low
	}
	return contact.And(contact.LowID(low), contact.HighID(high))
}

// ownedBy selects the contacts that an agent can see: its own.
func ownedBy(agentID uuid.UUID) predicate.Contact {
	return contact.Or(contact.RequesterID(agentID), contact.RecipientID(agentID))
}

// roleOf returns the role of one of the two agents of c.
func roleOf(agentID uuid.UUID, c *ent.Contact) role {
	if agentID == c.RequesterID {
		return requester
	}
	return recipient
}

// otherThan returns the other of the two agents of c.
func otherThan(agentID uuid.UUID, c *ent.Contact) uuid.UUID {
	if agentID == c.RequesterID {
		return c.RecipientID
	}
	return c.RequesterID
}
