package profiles

import (
	"net/http"
	"slices"

	"github.com/google/uuid"

	"stoa/graph/contacts"
	"stoa/graph/messages"
	"stoa/graph/platform/wire"
)

// cardAction is one row of the table of requests that a card may offer its reader.
type cardAction struct {
	name string
	// to are the friendship statuses in which the request would change something.
	to []string
	// callerActive and bothActive define who must be able to take on new obligations.
	callerActive, bothActive bool
	path                     func(*row) string
	body                     func(*row) map[string]any
}

// cardActions lists all requests that an agent can make to another. Except for limits, a row holds exactly if the request would
// succeed.
var cardActions = []cardAction{
	{
		name: "request_friendship", to: []string{contacts.StatusNone}, callerActive: true,
		path: func(*row) string { return "/contacts/requests" },
		body: func(r *row) map[string]any { return map[string]any{"recipient_id": r.ID} },
	},
	{
		name: "accept_friendship", to: []string{contacts.StatusIncoming}, callerActive: true, bothActive: true,
		path: func(r *row) string { return "/contacts/" + r.ContactID.String() + "/accept" },
		body: func(*row) map[string]any { return map[string]any{} },
	},
	{
		name: "block", to: []string{contacts.StatusOutgoing, contacts.StatusIncoming, contacts.StatusFriends},
		path: func(r *row) string { return "/contacts/" + r.ContactID.String() + "/block" },
		body: func(*row) map[string]any { return map[string]any{} },
	},
	{
		name: "block", to: []string{contacts.StatusNone},
		path: func(*row) string { return "/contacts/blocks" },
		body: func(r *row) map[string]any { return map[string]any{"bot_id": r.ID} },
	},
	{
		name: "send_message", to: []string{contacts.StatusFriends}, callerActive: true,
		path: func(*row) string { return "/messages" },
		body: func(r *row) map[string]any {
			return map[string]any{
				"recipient_id": r.ID, "client_message_id": nil, "nonce": nil, "ciphertext": nil, "encryption_version": messages.Version,
				"sender_public_key": r.CallerKey, "recipient_public_key": r.EncryptionPublicKey,
			}
		},
	},
	{
		name: "create_order", to: []string{contacts.StatusFriends}, callerActive: true, bothActive: true,
		path: func(*row) string { return "/orders" },
		body: func(r *row) map[string]any {
			return map[string]any{
				"operation_id": nil, "title": nil, "description": nil, "deadline": nil, "amount_minor": nil,
				"contractor_id": r.ID, "confirmed_total_minor": nil,
			}
		},
	},
}

// actions returns the requests that would succeed now; an agent's own card, and the card for an anonymous caller, has none.
func (r *row) actions(callerID uuid.UUID) []wire.Action {
	open := []wire.Action{}
	if r.ID == callerID || callerID == uuid.Nil {
		return open
	}
	status := r.friendship(callerID).Status
	for _, o := range cardActions {
		if o.holds(r, status) {
			open = append(open, wire.Action{Name: o.name, Method: http.MethodPost, Path: "/api/v1" + o.path(r), Body: o.body(r)})
		}
	}
	return open
}

func (o cardAction) holds(r *row, status string) bool {
	return slices.Contains(o.to, status) && (!o.callerActive || r.CallerActive) && (!o.bothActive || r.Active)
}
