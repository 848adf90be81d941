package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Opened is a message with its text.
type Opened struct {
	Text string
	// Bound reports that the sender's client has bound the message to its sender and its id (see Message.Bound). Of an unbound one
	// only the pair of keys is sure: a server could show it as the other side's, or under another id.
	Bound bool
	// SealedAt is when the sender's clock says that it sealed a bound message, the zero time for an unbound one.
	SealedAt time.Time
}

// Open opens a message between this agent and a peer, whose id is given where one conversation was asked for, else empty. It
// returns ErrKeyChanged, ErrSealed, or one of the errors that Refusal names, for a message that does not match its record. The same
// message may be opened again, under the same id. If the peer is not pinned yet it is met first (see Meet).
func (a *Agent) Open(ctx context.Context, m Message, peerID string) (Opened, error) {
	return a.open(ctx, m, peerID, "")
}

// open opens a message, which an event has brought unless eventID is empty.
func (a *Agent) open(ctx context.Context, m Message, peerID, eventID string) (Opened, error) {
	me, keys := a.identity.ID, a.Keys.Public()
	peer, own, key := m.SenderID, m.RecipientKey, m.SenderKey
	if strings.EqualFold(m.SenderID, me) {
		peer, own, key = m.RecipientID, m.SenderKey, m.RecipientKey
	} else if !strings.EqualFold(m.RecipientID, me) {
		return Opened{}, fmt.Errorf("%w: neither side is this agent", ErrAltered)
	}
	if strings.EqualFold(peer, me) || peerID != "" && !strings.EqualFold(peer, peerID) {
		return Opened{}, fmt.Errorf("%w: it is no message of this conversation", ErrAltered)
	}
	if own != keys {
		return Opened{}, fmt.Errorf("%w: it names another key for this agent", ErrAltered)
	}
	other := Brief{ID: peer, Key: &key}
	if err := a.Trust.Compare(other); err != nil {
		return Opened{}, err
	}
	text, err := a.Keys.Open(m.Envelope)
	if err != nil {
		return Opened{}, err
	}
	bound, sealed, err := a.judge(m)
	if err != nil {
		return Opened{}, err
	}
	if err := a.Meet(ctx, other); err != nil {
		return Opened{}, err
	}
	if err := a.Nonces.Claim(key, m.Nonce, m.ID, eventID, sealed); err != nil {
		return Opened{}, err
	}
	return Opened{text, bound, sealed}, nil
}

// judge reports whether a message is bound, and when it was sealed, or returns why it is refused whenever it comes.
func (a *Agent) judge(m Message) (bound bool, sealed time.Time, err error) {
	bound, err = m.Bound()
	switch {
	case err != nil:
		return false, sealed, err
	case !bound && a.RequireBound:
		return false, sealed, ErrUnbound
	case !bound:
		return false, sealed, nil
	}
	sealed = m.SealedAt()
	if time.Since(sealed) > staleAfter {
		return true, sealed, fmt.Errorf("%w: on %s", ErrStale, sealed.Format(time.DateOnly))
	}
	return true, sealed, nil
}

// Text opens the message of an event; ok is false for an event that brings none. The same event may be opened again, and so may its
// message in a list; another event that brings the message is ErrReplayed.
func (a *Agent) Text(ctx context.Context, e Event) (opened Opened, ok bool, err error) {
	if e.Kind != MessageCreated {
		return Opened{}, false, nil
	}
	var payload struct {
		MessageID string  `json:"message_id"`
		SenderID  string  `json:"sender_id"`
		Message   Message `json:"message"`
	}
	if err := json.Unmarshal(e.Payload, &payload); err != nil {
		return Opened{}, true, fmt.Errorf("%w: %w", ErrAltered, err)
	}
	m := payload.Message
	if payload.SenderID != m.SenderID || payload.MessageID != m.ID || strings.EqualFold(m.SenderID, a.identity.ID) {
		return Opened{}, true, fmt.Errorf("%w: the event is of another message", ErrAltered)
	}
	if _, err := parseID(e.ID); err != nil {
		return Opened{}, true, fmt.Errorf("%w: the event has no id", ErrAltered)
	}
	opened, err = a.open(ctx, m, "", e.ID)
	return opened, true, err
}

// SendMessage seals text for a friend, whose key must be the pinned one, and sends it. The envelope is kept before it is sent, so
// that a repeat under the same id, also by a program that was killed in between, is the same message; another text under it is
// ErrOtherContent. An empty id is a fresh one. replayed reports whether the message was sent before.
func (a *Agent) SendMessage(ctx context.Context, to Brief, text, id string) (sent Message, replayed bool, err error) {
	if to.Key == nil {
		return sent, false, fmt.Errorf("%s has no key: it was deleted", to.Handle)
	}
	if err := errors.Join(a.Registered(), checkText(text)); err != nil {
		return sent, false, err
	}
	if err := a.Meet(ctx, to); err != nil {
		return sent, false, err
	}
	id = cmp.Or(id, uuid.NewString())
	envelope, err := a.envelope(to, text, id)
	if err != nil {
		return sent, false, err
	}
	answer, err := a.SendKept(ctx, a.Outbox, id, http.MethodPost, "/messages", envelope)
	if err != nil {
		return sent, false, err
	}
	var body members
	if err := answer.decode(http.MethodPost, "/messages", &body); err != nil {
		return sent, false, err
	}
	if sent, err = member[Message](body, "message", http.MethodPost, "/messages"); err != nil {
		return sent, false, err
	}
	if !envelope.same(sent.Envelope) || !strings.EqualFold(sent.SenderID, a.identity.ID) {
		return sent, false, refuse(ErrAltered, http.StatusBadGateway, "no_answer", "the server answered with another message than the one sent")
	}
	return sent, answer.Replayed(), nil
}

// envelope returns the envelope that was kept under an id, or a new one.
func (a *Agent) envelope(to Brief, text, id string) (Envelope, error) {
	kept, found, err := a.Outbox.Find(id)
	if err != nil {
		return Envelope{}, err
	}
	if !found {
		return a.Keys.Seal(a.identity.ID, to.ID, *to.Key, text, id)
	}
	var envelope Envelope
	if err := json.Unmarshal(kept.Body, &envelope); err != nil {
		return Envelope{}, fmt.Errorf("the envelope %s: %w", id, err)
	}
	before, err := a.Keys.Open(envelope)
	if err != nil || before != text || !strings.EqualFold(envelope.RecipientID, to.ID) || envelope.RecipientKey != *to.Key {
		return Envelope{}, fmt.Errorf("%s: %w", id, ErrOtherContent)
	}
	return envelope, nil
}

// same reports whether two envelopes are the same; the server writes ids in lower case.
func (e Envelope) same(other Envelope) bool {
	for _, one := range []*Envelope{&e, &other} {
		one.RecipientID, one.ClientMessageID = strings.ToLower(one.RecipientID), strings.ToLower(one.ClientMessageID)
	}
	return e == other
}
