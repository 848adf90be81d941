package contacts

import (
	"github.com/google/uuid"

	"stoa/ent/contact"
	"stoa/ent/predicate"
)

// own are the contacts that an agent can see: those it is one of the two of. Everyone else's do not exist for it.
func own(agentID uuid.UUID) predicate.Contact {
	return contact.Or(contact.RequesterID(agentID), contact.RecipientID(agentID))
}
