package judge

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// relation is the state of two agents' contact (§3.2): none, or its state and who requested it.
type relation struct{ state, asker string }

// The states of a contact.
const (
	requested  = "pending"
	befriended = "accepted"
	blocked    = "blocked"
)

// act returns the contact after an operation with the status of the answer, or the code that refuses it.
func (c relation) act(operation, agent string) (after relation, status int, refusal string) {
	switch {
	case operation == history.ContactBlock && c.state == "":
		return c, 0, "not_found"
	case operation == history.ContactBlock:
		return relation{blocked, c.asker}, 200, ""
	case c.state == blocked:
		return c, 0, "contact_blocked"
	case operation == history.ContactRequest && c.state == "":
		return relation{requested, agent}, 201, ""
	case operation == history.ContactRequest:
		return c, 200, ""
	case c.state == "":
		return c, 0, "not_found"
	case c.asker == agent:
		return c, 0, "recipient_required"
	}
	return relation{befriended, c.asker}, 200, ""
}

// pairOf names two agents, in one way for both.
func pairOf(one, other string) string {
	names := []string{one, other}
	slices.Sort(names)
	return strings.Join(names, " and ")
}

// checkContacts looks for a sequence of the requests to each contact that explains all answers.
func checkContacts(r *run, f *Finding) {
	requests, ids := make(map[string][]*request), make(map[string]string)
	for _, a := range r.of(history.ContactRequest, history.ContactAccept, history.ContactBlock) {
		if !settled(a) && !unknown(a) {
			continue
		}
		pair := pairOf(a.Agent, a.Subject)
		if a.Succeeded() {
			id := got(a).Contact.ID
			if other, known := ids[pair]; known && other != id {
				f.violatedf("%s names the contact %s, but %s have %s", Describe(a), id, pair, other)
			}
			ids[pair] = id
		}
		requests[pair] = append(requests[pair], alone(a))
	}
	for _, a := range r.by[history.MessageSend] { // only friends may write to each other (§2.4)
		pair := pairOf(a.Agent, a.Subject)
		if len(requests[pair]) > 0 && a.ID != "" && a.Changed == "" && (a.Status == http.StatusCreated || a.Code == "contact_not_accepted") {
			requests[pair] = append(requests[pair], alone(a))
		}
	}
	for _, pair := range sorted(requests) {
		f.Looked += len(requests[pair])
		linearize(f, "contact of "+pair, relation{}, func(a, b relation) bool { return a == b }, callsOf(requests[pair], contactCall))
	}
}

// contactCall is an attempt at an operation on a contact, or to send a message.
func contactCall(a *history.Attempt) call[relation] {
	answer := got(a).Contact
	c := call[relation]{text: strings.TrimSuffix(Describe(a)+" with "+answer.State, " with "), reads: a.Operation == history.MessageSend}
	c.step = func(before relation, pending bool) (bool, relation) {
		if c.reads {
			return (before.state == befriended) == a.Succeeded(), before
		}
		after, status, refusal := before.act(a.Operation, a.Agent)
		switch {
		case pending:
			return true, after
		case !a.Succeeded():
			return refusal != "" && refusal == a.Code, before
		}
		return a.Status == status && answer.State == after.state &&
			(after.state != requested || answer.RequestedByMe == (after.asker == a.Agent)), after
	}
	return c
}

// mayBeBlocked reports whether one of two agents may have blocked the other before a moment.
func (r *run) mayBeBlocked(one, other string, before time.Duration) bool {
	pair := pairOf(one, other)
	return may(r.by[history.ContactBlock], before, func(b *history.Attempt) bool { return pairOf(b.Agent, b.Subject) == pair })
}

// mayBeNoFriends reports whether at the moment of a message its two agents may not be friends: the sequence of their contact says more.
func (r *run) mayBeNoFriends(a *history.Attempt) bool {
	pair := pairOf(a.Agent, a.Subject)
	friends := did(r.by[history.ContactAccept], a.Start, func(b *history.Attempt) bool { return pairOf(b.Agent, b.Subject) == pair })
	return !friends || r.mayBeBlocked(a.Agent, a.Subject, a.End)
}

// checkNonces looks for messages that were accepted under one nonce: of one sender, or between two agents (§2.4).
func checkNonces(r *run, f *Finding) {
	for _, s := range r.messages {
		if !s.success {
			continue
		}
		f.Looked++
		for _, other := range r.nonces[s.nonce] {
			if other.success && clashes(s, other) && s.key < other.key {
				f.violatedf("messages %s of %s and %s of %s were accepted under one nonce", s.key, s.sender, other.key, other.sender)
			}
		}
	}
}

// clashes reports whether two messages may not have one nonce.
func clashes(one, other *sending) bool {
	return one.key != other.key && one.nonce != "" &&
		(one.sender == other.sender || pairOf(one.sender, one.recipient) == pairOf(other.sender, other.recipient))
}

// nonceMayBeUsed reports whether another message may have taken the nonce of a message by the end of an attempt to send it.
func (r *run) nonceMayBeUsed(a *history.Attempt) bool {
	s := r.sending(a.Agent, a.ID)
	return slices.ContainsFunc(r.nonces[s.nonce], func(other *sending) bool {
		return clashes(s, other) && other.tried && other.start < a.End
	})
}
