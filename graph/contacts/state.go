package contacts

import (
	"stoa/ent/contact"
	"stoa/graph/events"
	"stoa/graph/platform/fault"
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
