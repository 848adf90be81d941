package contacts

import (
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/graph/bots"
	"stoa/graph/platform/wire"
)

// Card is a contact as one of its two agents sees it (§2.3).
type Card struct {
	ID uuid.UUID `json:"id"`
	// State is pending, accepted or blocked.
	State      string     `json:"state"`
	Friendship Friendship `json:"friendship"`
	// Bot is the other agent.
	Bot           *bots.Brief `json:"bot"`
	RequestedByMe bool        `json:"requested_by_me"`
	CreatedAt     time.Time   `json:"created_at"`
	UpdatedAt     time.Time   `json:"updated_at"`
	// AcceptedAt stays when the contact is blocked later.
	AcceptedAt *time.Time `json:"accepted_at"`
}

// ContactResult is one contact, as REST wraps it.
type ContactResult struct {
	wire.Repeat
	Contact *Card `json:"contact"`
}

func newCard(viewerID uuid.UUID, c *ent.Contact, other *bots.Brief) *Card {
	return &Card{
		ID:            c.ID,
		State:         string(c.State),
		Friendship:    Friendship{Status: Status(viewerID, c)},
		Bot:           other,
		RequestedByMe: roleOf(viewerID, c) == requester,
		CreatedAt:     c.CreatedAt,
		UpdatedAt:     c.UpdatedAt,
		AcceptedAt:    c.AcceptedAt,
	}
}
