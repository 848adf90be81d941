package judge

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"stoa/cmd/prove/history"
)

// contactAnswer is {contact}.
type contactAnswer struct {
	Contact contactCard `json:"contact"`
}

type contactCard struct {
	ID            string
	State         string
	RequestedByMe bool `json:"requested_by_me"`
	Bot           struct{ ID string }
}

// relation is the state of two agents' contact (§3.2): none, or what it is and who requested.
type relation struct{ state, asker string }

// The states of a contact.
const (
	requested  = "pending"
	befriended = "accepted"
	blocked    = "blocked"
)

// pairOf names two agents, in one way for both.
func pairOf(one, other string) string {
	names := []string{one, other}
	slices.Sort(names)
	return strings.Join(names, " and ")
}

// checkContacts looks for a sequence of the requests to each contact that explains all answers.
func checkContacts(r *run, f *Finding) {
	calls, ids := make(map[string][]call), make(map[string]string)
	seen := func(a *history.Attempt, id string) {
		pair := pairOf(a.Agent, a.Subject)
		if other, known := ids[pair]; known && other != id {
			f.violatedf("%s names the contact %s, but %s have %s", describe(a), id, pair, other)
		}
		ids[pair] = id
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		switch a.Operation {
		case history.ContactRequest, history.ContactAccept, history.ContactBlock:
			if !settled(a) && !unknown(a) {
				continue
			}
			f.Looked++
			var body contactAnswer
			if a.Succeeded() {
				var ok bool
				if body, ok = decode[contactAnswer](f, a); !ok {
					continue
				}
				seen(a, body.Contact.ID)
			}
			pair := pairOf(a.Agent, a.Subject)
			calls[pair] = append(calls[pair], contactCall(a, body.Contact))
		}
	}
	for _, q := range r.requests {
		if q.operation() == history.MessageSend {
			addMessages(calls, q, f)
		}
	}
	for i := range r.Attempts {
		if a := &r.Attempts[i]; a.Operation == history.ContactList && a.Succeeded() {
			r.readContacts(a, calls, f)
		}
	}
	for _, pair := range sorted(calls) {
		linearize(f, "contact of "+pair, relation{}, func(a, b any) bool { return a == b }, calls[pair])
	}
}

// readContacts adds what a whole list of contacts says of each pair.
func (r *run) readContacts(a *history.Attempt, calls map[string][]call, f *Finding) {
	body, ok := decode[struct {
		Contacts   []contactCard
		NextBefore *string `json:"next_before"`
	}](f, a)
	if !ok || body.NextBefore != nil {
		return
	}
	f.Looked++
	listed := make(map[string]string)
	for _, c := range body.Contacts {
		pair := pairOf(a.Agent, r.handles[c.Bot.ID])
		if listed[pair] != "" {
			f.violatedf("%s lists the contact of %s twice", describe(a), pair)
		}
		listed[pair] = c.State
	}
	for pair := range calls {
		one, other, _ := strings.Cut(pair, " and ")
		if one != a.Agent && other != a.Agent {
			continue
		}
		state := listed[pair]
		calls[pair] = append(calls[pair], call{
			start: a.Start, end: a.End, reads: true, text: fmt.Sprintf("%s with %q", describe(a), state),
			step: func(now any, _ bool) (bool, any) { return now.(relation).state == state, now }, //nolint:forcetypeassert // the model's only states
		})
	}
}

// addMessages adds to the calls of two agents' contact when a message was accepted for the first time, and when it was refused because
// they are no friends: only friends may write to each other (§2.4).
func addMessages(calls map[string][]call, q *request, f *Finding) {
	for _, a := range q.attempts {
		pair := pairOf(a.Agent, a.Subject)
		accepted, refused := a.Status == http.StatusCreated, a.Code == "contact_not_accepted"
		if len(calls[pair]) == 0 || !accepted && !refused {
			continue
		}
		f.Looked++
		c := call{start: a.Start, end: a.End, reads: true, text: describe(a)}
		c.step = func(state any, _ bool) (bool, any) {
			return (state.(relation).state == befriended) == accepted, state //nolint:forcetypeassert // the model's only states
		}
		calls[pair] = append(calls[pair], c)
	}
}

// contactCall is an attempt at an operation on a contact.
func contactCall(a *history.Attempt, answer contactCard) call {
	c := call{start: a.Start, end: a.End, pending: unknown(a), text: describe(a)}
	if a.Succeeded() {
		c.text += " with " + answer.State
	}
	c.step = func(state any, pending bool) (bool, any) {
		before := state.(relation) //nolint:forcetypeassert // the model's only states
		after, status, codes := before.act(a.Operation, a.Agent)
		switch {
		case pending:
			return true, after
		case !a.Succeeded():
			return slices.Contains(codes, a.Code), before
		}
		fits := a.Status == status && answer.State == after.state && (after.state != requested || answer.RequestedByMe == (after.asker == a.Agent))
		return fits, after
	}
	return c
}

// act returns the contact after an operation with the status of the answer, or the codes that may refuse it.
func (c relation) act(operation, agent string) (after relation, status int, refusals []string) {
	switch {
	case operation == history.ContactBlock:
		if c.state == "" {
			return c, 0, []string{"not_found"}
		}
		return relation{blocked, c.asker}, 200, nil
	case c.state == blocked:
		return c, 0, []string{"contact_blocked"}
	case operation == history.ContactRequest && c.state == "":
		return relation{requested, agent}, 201, nil
	case operation == history.ContactRequest:
		return c, 200, nil
	case c.state == "":
		return c, 0, []string{"not_found"}
	case c.asker == agent:
		return c, 0, []string{"recipient_required"}
	default:
		return relation{befriended, c.asker}, 200, nil
	}
}

// mayBeBlocked says that one of two agents may have blocked the other by the end of an attempt.
func (r *run) mayBeBlocked(one, other string, a *history.Attempt) bool {
	return r.others(a, func(b *history.Attempt) bool {
		return b.Operation == history.ContactBlock && pairOf(b.Agent, b.Subject) == pairOf(one, other) && mayHaveActed(b) && b.Start < a.End
	})
}

// mayBeNoFriends says that at the moment of a message its two agents may not be friends: the sequence of their contact says more.
func (r *run) mayBeNoFriends(a *history.Attempt) bool {
	friends := r.others(a, func(b *history.Attempt) bool {
		return b.Operation == history.ContactAccept && pairOf(b.Agent, b.Subject) == pairOf(a.Agent, a.Subject) && b.Succeeded() && b.End < a.Start
	})
	return !friends || r.mayBeBlocked(a.Agent, a.Subject, a)
}

// checkNonces looks for messages that were accepted under one nonce: of one sender, or between two agents (§2.4).
func checkNonces(r *run, f *Finding) {
	for i := range r.Sent {
		s := r.sendings[[2]string{r.Sent[i].Sender, r.Sent[i].ClientMessageID}]
		if !s.success {
			continue
		}
		f.Looked++
		for j := range r.nonces[s.Nonce] {
			other := r.nonces[s.Nonce][j]
			if other.success && clashes(s.Sent, other.Sent) && s.ClientMessageID < other.ClientMessageID {
				f.violatedf("messages %s of %s and %s of %s were accepted under one nonce",
					s.ClientMessageID, s.Sender, other.ClientMessageID, other.Sender)
			}
		}
	}
}

// clashes says that two messages may not have one nonce.
func clashes(one, other *history.Sent) bool {
	return one.ClientMessageID != other.ClientMessageID && one.Nonce != "" &&
		(one.Sender == other.Sender || pairOf(one.Sender, one.Recipient) == pairOf(other.Sender, other.Recipient))
}

// nonceMayBeUsed says that another message may have taken the nonce of a message by the end of an attempt to send it.
func (r *run) nonceMayBeUsed(a *history.Attempt) bool {
	s := r.sendings[[2]string{a.Agent, a.ID}]
	return s != nil && slices.ContainsFunc(r.nonces[s.Nonce], func(other *sending) bool {
		return clashes(s.Sent, other.Sent) && other.tried && other.start < a.End
	})
}
