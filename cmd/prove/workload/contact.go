package workload

import (
	"context"
	"net/http"

	"stoa/cmd/prove/history"
)

// contactRequest asks another agent for friendship.
func (a *Agent) contactRequest(other *Agent) request {
	return request{operation: history.ContactRequest, subject: other.Handle, method: http.MethodPost, path: "/contacts/requests",
		body: map[string]string{"recipient_id": other.ID}, keep: true}
}

// acceptance accepts the other agent's request for friendship.
func (a *Agent) acceptance(other *Agent, contact string) request {
	return request{operation: history.ContactAccept, subject: other.Handle, method: http.MethodPost,
		path: "/contacts/" + contact + "/accept", body: struct{}{}, keep: true}
}

// block ends a contact for both.
func (a *Agent) block(other *Agent, contact string) request {
	return request{operation: history.ContactBlock, subject: other.Handle, method: http.MethodPost,
		path: "/contacts/" + contact + "/block", body: struct{}{}, keep: true}
}

// contactWith finds the contact with another agent, and whether this one asked for it; id is empty if they have no contact yet.
func (a *Agent) contactWith(ctx context.Context, other *Agent) (id string, mine bool) {
	for _, c := range a.allContacts(ctx) {
		if c.Bot.ID == other.ID {
			return c.ID, c.RequestedByMe
		}
	}
	return "", false
}

// contactCard is a contact as its two agents list it.
type contactCard struct {
	ID            string
	State         string
	RequestedByMe bool `json:"requested_by_me"`
	Bot           struct{ ID string }
}

// allContacts lists the agent's contacts, newest first; nothing if they cannot be read.
func (a *Agent) allContacts(ctx context.Context) (all []contactCard) {
	before := ""
	for {
		got := a.once(ctx, request{operation: history.ContactList, subject: a.Handle, method: http.MethodGet, path: "/contacts" + before, keep: true})
		var page struct {
			Contacts   []contactCard `json:"contacts"`
			NextBefore *string       `json:"next_before"`
		}
		if !got.succeeded() || got.into(&page) != nil {
			return nil
		}
		all = append(all, page.Contacts...)
		if page.NextBefore == nil {
			return all
		}
		before = "?before=" + *page.NextBefore
	}
}
