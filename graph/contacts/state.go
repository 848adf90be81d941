package contacts

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/contact"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// none is the state of two agents without a contact.
const none contact.State = ""

// operation is an agent's operation on a contact.
type operation string

const (
	request operation = "request"
	accept  operation = "accept"
	block   operation = "block"
)

// role is the role of the acting agent: it requested the contact, or received the request.
type role string

const (
	requester role = "requester"
	recipient role = "recipient"
)

// attempt holds the values that a transition depends on.
type attempt struct {
	state     contact.State
	operation operation
	role      role
}

// transition is the result of an attempt. The zero value is a repeat: the contact is returned and nothing changes.
type transition struct {
	to contact.State
	// event goes to the other agent.
	event events.Kind
	// requiresActive: both agents must be able to take on new obligations (§3.4).
	requiresActive bool
	refusal        fault.Code
}

// transitions is the state machine of §3.2. It has a row for every attempt that can be made.
var transitions = map[attempt]transition{
	{none, request, requester}:                  {to: contact.StatePending, event: events.ContactRequested},
	{none, block, requester}:                    {to: contact.StateBlocked},
	{contact.StatePending, request, requester}:  {},
	{contact.StatePending, request, recipient}:  {},
	{contact.StateAccepted, request, requester}: {},
	{contact.StateAccepted, request, recipient}: {},
	{contact.StateBlocked, request, requester}:  {refusal: fault.ContactBlocked},
	{contact.StateBlocked, request, recipient}:  {refusal: fault.ContactBlocked},

	{contact.StatePending, accept, requester}:  {refusal: fault.RecipientRequired},
	{contact.StatePending, accept, recipient}:  {to: contact.StateAccepted, event: events.ContactAccepted, requiresActive: true},
	{contact.StateAccepted, accept, requester}: {refusal: fault.RecipientRequired},
	{contact.StateAccepted, accept, recipient}: {},
	{contact.StateBlocked, accept, requester}:  {refusal: fault.RecipientRequired},
	{contact.StateBlocked, accept, recipient}:  {refusal: fault.ContactBlocked},

	{contact.StatePending, block, requester}:  {to: contact.StateBlocked, event: events.ContactBlocked},
	{contact.StatePending, block, recipient}:  {to: contact.StateBlocked, event: events.ContactBlocked},
	{contact.StateAccepted, block, requester}: {to: contact.StateBlocked, event: events.ContactBlocked},
	{contact.StateAccepted, block, recipient}: {to: contact.StateBlocked, event: events.ContactBlocked},
	{contact.StateBlocked, block, requester}:  {},
	{contact.StateBlocked, block, recipient}:  {},
}

// resembledMost is the maximum number of similar friends on a card. An agent is compared with the friendsMost oldest friends, so
// a new friend cannot displace them.
const resembledMost, friendsMost = 3, 1000

// Resembled returns for each agent the handles of the reader's friends that its names resemble (§2.1). The zero UUID is a reader
// without a token and has none. It runs one statement.
func Resembled(ctx context.Context, q db.Querier, readerID uuid.UUID, agents ...text.Names) ([][]string, error) {
	var friends []*text.Names
	if readerID != uuid.Nil && len(agents) > 0 {
		var err error
		if friends, err = db.All[text.Names](ctx, q, named("list_friends"), readerID, friendsMost); err != nil {
			return nil, err
		}
	}
	lineup, all := text.NewLineup(friends), make([][]string, len(agents))
	for i, names := range agents {
		all[i] = lineup.Resembled(names, resembledMost)
	}
	return all, nil
}
