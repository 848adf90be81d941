package contacts

import (
	"stoa/ent/contact"
	"stoa/graph/events"
	"stoa/graph/platform/fault"
)

// none is the state of two agents without a contact.
const none contact.State = ""

// operation is what an agent does to a relation.
type operation string

const (
	request operation = "request"
	accept  operation = "accept"
	block   operation = "block"
)

// role is the part that the acting agent has in the contact, or would have once it exists.
type role string

const (
	requester role = "requester"
	recipient role = "recipient"
)

// situation is what decides an operation.
type situation struct {
	state contact.State
	does  operation
	who   role
}

// outcome is what comes of it. The zero value is a repeat: nothing changes, nobody is told, the contact is returned.
type outcome struct {
	to contact.State
	// tells the other agent.
	tells events.Kind
	// needsActive: both agents must be able to take on new obligations.
	needsActive bool
	// silences: messages that the two have not received yet are no longer announced.
	silences bool
	refusal  fault.Code
}

// transitions is all of §3.2. Every state, operation and role has a row; states are never left otherwise.
var transitions = map[situation]outcome{
	{none, request, requester}:                  {to: contact.StatePending, tells: events.ContactRequested},
	{contact.StatePending, request, requester}:  {},
	{contact.StatePending, request, recipient}:  {},
	{contact.StateAccepted, request, requester}: {},
	{contact.StateAccepted, request, recipient}: {},
	{contact.StateBlocked, request, requester}:  {refusal: fault.ContactBlocked},
	{contact.StateBlocked, request, recipient}:  {refusal: fault.ContactBlocked},

	{contact.StatePending, accept, requester}:  {refusal: fault.RecipientRequired},
	{contact.StatePending, accept, recipient}:  {to: contact.StateAccepted, tells: events.ContactAccepted, needsActive: true},
	{contact.StateAccepted, accept, requester}: {refusal: fault.RecipientRequired},
	{contact.StateAccepted, accept, recipient}: {},
	{contact.StateBlocked, accept, requester}:  {refusal: fault.RecipientRequired},
	{contact.StateBlocked, accept, recipient}:  {refusal: fault.ContactBlocked},

	{contact.StatePending, block, requester}:  {to: contact.StateBlocked, tells: events.ContactBlocked, silences: true},
	{contact.StatePending, block, recipient}:  {to: contact.StateBlocked, tells: events.ContactBlocked, silences: true},
	{contact.StateAccepted, block, requester}: {to: contact.StateBlocked, tells: events.ContactBlocked, silences: true},
	{contact.StateAccepted, block, recipient}: {to: contact.StateBlocked, tells: events.ContactBlocked, silences: true},
	{contact.StateBlocked, block, requester}:  {},
	{contact.StateBlocked, block, recipient}:  {},
}
