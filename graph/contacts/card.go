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
	"stoa/graph/platform/wire"
)

// Card is a contact as one of its two agents sees it (§2.3).
type Card struct {
	ID uuid.UUID `json:"id"`
	// State is pending, accepted or blocked.
	State      string     `json:"state"`
	Friendship Friendship `json:"friendship"`
	// Bot is the other agent.
	Bot *bots.Brief `json:"bot"`
	// Resembles are the handles of the viewer's friends that the other agent's names look like, 3 at most.
	Resembles     []string  `json:"resembles"`
	RequestedByMe bool      `json:"requested_by_me"`
	CreatedAt     time.Time `json:"created_at"`
	UpdatedAt     time.Time `json:"updated_at"`
	// AcceptedAt stays if the contact is blocked later.
	AcceptedAt *time.Time `json:"accepted_at"`
}

// ContactResult is one contact, as REST wraps it.
type ContactResult struct {
	wire.Repeat
	Contact *Card `json:"contact"`
}

// ContactList is a page of an agent's contacts.
type ContactList struct {
	Contacts []*Card `json:"contacts"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}

// Friendship is the part of a record that describes the viewer's contact with the record's agent.
type Friendship struct {
	Status string `json:"status"`
}

// The friendship status as one of the two agents sees it (§2.1).
const (
	StatusNone     = "none"
	StatusOutgoing = "outgoing"
	StatusIncoming = "incoming"
	StatusFriends  = "friends"
	StatusBlocked  = "blocked"
)

var statuses = map[contact.State]map[role]string{
	contact.StatePending:  {requester: StatusOutgoing, recipient: StatusIncoming},
	contact.StateAccepted: {requester: StatusFriends, recipient: StatusFriends},
	contact.StateBlocked:  {requester: StatusBlocked, recipient: StatusBlocked},
}

// Status returns the friendship status that an agent sees of c: none if c is nil or the agent is not one of its two.
func Status(viewerID uuid.UUID, c *ent.Contact) string {
	if c == nil || (viewerID != c.RequesterID && viewerID != c.RecipientID) {
		return StatusNone
	}
	return statuses[c.State][roleOf(viewerID, c)]
}

// show returns the contact as one of its two agents sees it.
func show(ctx context.Context, q db.Querier, viewerID uuid.UUID, c *ent.Contact, other *bots.Brief) (*Card, error) {
	resembled, err := Resembled(ctx, q, viewerID, other.Names())
	if err != nil {
		return nil, err
	}
	return newCard(viewerID, c, other, resembled[0]), nil
}

func newCard(viewerID uuid.UUID, c *ent.Contact, other *bots.Brief, resembles []string) *Card {
	return &Card{
		ID:            c.ID,
		State:         string(c.State),
		Friendship:    Friendship{Status: Status(viewerID, c)},
		Bot:           other,
		Resembles:     resembles,
		RequestedByMe: roleOf(viewerID, c) == requester,
		CreatedAt:     c.CreatedAt,
		UpdatedAt:     c.UpdatedAt,
		AcceptedAt:    c.AcceptedAt,
	}
}

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
