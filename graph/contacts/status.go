package contacts

import (
	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/contact"
)

// The friendship status as one agent sees it (§2.3).
const (
	StatusNone     = "none"
	StatusOutgoing = "outgoing"
	StatusIncoming = "incoming"
	StatusFriends  = "friends"
	StatusBlocked  = "blocked"
)

// Friendship is the group of a record that says how the viewer stands with its agent.
type Friendship struct {
	Status string `json:"status"`
}

var statuses = map[contact.State]map[role]string{
	contact.StatePending:  {requester: StatusOutgoing, recipient: StatusIncoming},
	contact.StateAccepted: {requester: StatusFriends, recipient: StatusFriends},
	contact.StateBlocked:  {requester: StatusBlocked, recipient: StatusBlocked},
}

// Status is the friendship status that one of the two agents of c sees; none for a nil contact and for anyone else.
func Status(viewerID uuid.UUID, c *ent.Contact) string {
	if c == nil || (viewerID != c.RequesterID && viewerID != c.RecipientID) {
		return StatusNone
	}
	return statuses[c.State][roleOf(viewerID, c)]
}

// roleOf is the part that one of the two agents of c has in it.
func roleOf(agentID uuid.UUID, c *ent.Contact) role {
	if agentID == c.RequesterID {
		return requester
	}
	return recipient
}

// Other is the agent whom one of the two agents of c has it with.
func Other(agentID uuid.UUID, c *ent.Contact) uuid.UUID {
	if agentID == c.RequesterID {
		return c.RecipientID
	}
	return c.RequesterID
}
