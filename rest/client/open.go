package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
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
	// Bound reports whether the sender's client has bound the message to its sender and its id (see Message.Bound). An unbound
	// message proves only the pair of keys: a server could show it as sent by the other side, or under another id.
	Bound bool
	// SealedAt is when a bound message was sealed, by the sender's clock; the zero time for an unbound one.
	SealedAt time.Time
}

// Open opens a message between this agent and a peer. If the message was read from one conversation, pass the peer's id, else "".
// It returns ErrKeyChanged, ErrSealed, or one of the errors that Refusal names, for a message that does not match its record. A
// message may be opened again under the same id. A peer that is not pinned is pinned first (see Meet).
func (a *Agent) Open(ctx context.Context, m Message, peerID string) (Opened, error) {
	return a.open(ctx, m, peerID, "")
}

// open opens a message. eventID is the event that brought it, empty for none.
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
	if _, err := a.Trust.knows(other); err != nil {
		return Opened{}, err
	}
	text, err := a.Keys.Open(m.Envelope)
	if err != nil {
		return Opened{}, err
	}
	bound, err := m.Bound()
	sealed := time.Time{}
	if bound {
		sealed = m.SealedAt()
	}
	switch {
	case err == nil && !bound && a.RequireBound:
		err = ErrUnbound
	case bound && time.Since(sealed) > staleAfter:
		err = fmt.Errorf("%w: on %s", ErrStale, sealed.Format(time.DateOnly))
	}
	if err == nil {
		err = a.Meet(ctx, other)
	}
	if err == nil {
		err = a.Nonces.Claim(key, m.Nonce, m.ID, eventID, sealed)
	}
	if err != nil {
		return Opened{}, err
	}
	return Opened{text, bound, sealed}, nil
}

// Text opens the message of an event; ok is false for an event without a message. The same event, or its message in a list, may
// be opened again; another event with the same message is ErrReplayed.
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

// SendMessage seals text for a friend, whose key must be the pinned one, and sends it. The envelope is stored before it is sent.
// So a repeat under the same id is the same message, even if the program was killed in between; another text under that id is
// ErrOtherContent. If id is empty, a new one is used; then call Resume after an error
// without an answer, since another call is another message. replayed reports whether the message was sent before.
func (a *Agent) SendMessage(ctx context.Context, to Brief, text, id string) (sent Message, replayed bool, err error) {
	if to.Key == nil {
		return sent, false, fmt.Errorf("there is no key of %s: it was deleted, or Find has its key", cmp.Or(to.Handle, to.ID))
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
	answer, err := a.sendKept(ctx, id, "/messages", envelope)
	if err != nil {
		return sent, false, err
	}
	if sent, err = recordOf[Message](answer, "message"); err != nil {
		return sent, false, err
	}
	if !envelope.same(sent.Envelope) || !strings.EqualFold(sent.SenderID, a.identity.ID) {
		return sent, false, refuse(ErrAltered, http.StatusBadGateway, "no_answer", "the server answered with another message than the one sent")
	}
	return sent, answer.Replayed(), nil
}

// envelope returns the stored envelope of an id, or stores a new one.
func (a *Agent) envelope(to Brief, text, id string) (envelope Envelope, err error) {
	kept, found, err := a.Outbox.Find(id)
	if err == nil && !found {
		if envelope, err = a.Keys.Seal(a.identity.ID, to.ID, *to.Key, text, id); err == nil {
			kept, err = a.Outbox.keep(id, "/messages", envelope)
		}
	}
	if err != nil {
		return envelope, err
	}
	if err := json.Unmarshal(kept.Body, &envelope); err != nil {
		return envelope, fmt.Errorf("the envelope %s: %w", id, err)
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

// Both sides open a box with the same key, so the box alone does not prove who sealed it or under which id. The nonce does, and
// the box authenticates it: this package derives it from the parties and the id of the message (docs/clients.md). Any client can
// open such an envelope. The binding cannot be removed, since the box opens with no other nonce.

// Errors for a message that opens but is refused. Refusal returns a word for each.
var (
	// ErrReflected means that the server shows a message as sent by the other side.
	ErrReflected error = refusalError{"reflected", "the message was sealed by the other side of this conversation"}
	// ErrAltered means that the server changed a party or the client_message_id of a message, or shows it in the wrong place.
	ErrAltered error = refusalError{"altered", "the message was sealed as another one than the server shows"}
	// ErrReplayed means that the server shows a message again under another id, or sends it again with another event.
	ErrReplayed error = refusalError{"replayed", "the message was opened before under another id or by another event"}
	// ErrStale means that a bound message is older than any client still sends and any server keeps.
	ErrStale error = refusalError{"stale", "the message was sealed over 91 days ago"}
	// ErrUnbound means that the sender's client does not bind its nonces, and this agent requires it.
	ErrUnbound error = refusalError{"unbound", "nothing binds the message to its sender and its id"}
)

type refusalError struct{ word, text string }

func (r refusalError) Error() string { return r.text }

// Refusal returns why a message was refused: reflected, altered, replayed, stale or unbound. It returns the empty string for every
// other error, such as a message that does not open.
func Refusal(err error) string {
	refused, _ := errors.AsType[refusalError](err)
	return refused.word
}

// staleAfter is how old a bound message may be. An outbox forgets an envelope after that time, and a server keeps a message for 90
// days (§2.4).
const staleAfter = keptFor

// The parts of a bound nonce in bytes: the time and random bytes, the direction, the rest.
const (
	freshSize     = 8
	directionSize = 6
)

// BindNonce returns a nonce that is bound to the keys, the parties and the client_message_id of the message. All must be set. fresh
// is its begin: the time in seconds, as 4 bytes, and 4 random bytes.
func (e Envelope) BindNonce(senderID string, fresh [freshSize]byte) (nonce [nonceSize]byte, err error) {
	direction, message, err := e.binding(senderID, fresh[:])
	copy(nonce[:], fresh[:])
	copy(nonce[freshSize:], direction)
	copy(nonce[freshSize+directionSize:], message)
	return nonce, err
}

// binding computes the two bound parts of a nonce.
func (e Envelope) binding(senderID string, fresh []byte) (direction, message []byte, err error) {
	sender, err := decodeKey(e.SenderKey)
	if err != nil {
		return nil, nil, fmt.Errorf("the sender's key: %w", err)
	}
	recipient, err := decodeKey(e.RecipientKey)
	if err != nil {
		return nil, nil, fmt.Errorf("the recipient's key: %w", err)
	}
	parts := [][]byte{sender[:], recipient[:], fresh}
	direction = digest("stoa nonce direction 1\n", parts)[:directionSize]
	for _, id := range []string{senderID, e.RecipientID, e.ClientMessageID} {
		parsed, err := parseID(id)
		if err != nil {
			return nil, nil, err
		}
		parts = append(parts, parsed[:])
	}
	message = digest("stoa nonce message 1\n", parts)[:nonceSize-freshSize-directionSize]
	return direction, message, nil
}

// parseID reads an id in the one form of the contract (§1.3), in either case.
func parseID(id string) (uuid.UUID, error) {
	const length = 36
	parsed, err := uuid.Parse(id)
	if err != nil || len(id) != length {
		return uuid.UUID{}, fmt.Errorf("the id %q is no UUID", id)
	}
	return parsed, nil
}

func digest(domain string, parts [][]byte) []byte {
	sum := sha512.Sum512(append([]byte(domain), bytes.Join(parts, nil)...))
	return sum[:]
}

// Bound reports whether the nonce of a message is bound to its parties and id as the server shows them; false if the client binds
// nothing. It returns ErrReflected or ErrAltered if the nonce is bound to something else.
func (m Message) Bound() (bool, error) {
	nonce, err := decodeNonce(m.Nonce)
	if err != nil {
		return false, err
	}
	fresh, seenDirection, seenMessage := nonce[:freshSize], nonce[freshSize:freshSize+directionSize], nonce[freshSize+directionSize:]
	direction, message, err := m.binding(m.SenderID, fresh)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrAltered, err)
	}
	swapped := Message{SenderID: m.RecipientID, Envelope: m.Envelope}
	swapped.RecipientID, swapped.SenderKey, swapped.RecipientKey = m.SenderID, m.RecipientKey, m.SenderKey
	backwards, mirrored, err := swapped.binding(swapped.SenderID, fresh)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrAltered, err)
	}
	oneKey := m.SenderKey == m.RecipientKey // then only the message part decides, since the direction is the same
	switch {
	case bytes.Equal(seenDirection, direction) && bytes.Equal(seenMessage, message):
		return true, nil
	case bytes.Equal(seenDirection, backwards) && (!oneKey || bytes.Equal(seenMessage, mirrored)):
		return false, ErrReflected
	case bytes.Equal(seenDirection, direction):
		return false, ErrAltered
	}
	return false, nil
}

// SealedAt is when the message was sealed, by the sender's clock, to the second. It is meaningless unless the message is bound.
func (e Envelope) SealedAt() time.Time {
	nonce, err := decodeNonce(e.Nonce)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(int64(binary.BigEndian.Uint32(nonce[:])), 0).UTC()
}

func decodeNonce(text string) (*[nonceSize]byte, error) {
	nonce, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(nonce) != nonceSize {
		return nil, fmt.Errorf("%w: the nonce is not %d bytes of base64", ErrSealed, nonceSize)
	}
	return (*[nonceSize]byte)(nonce), nil
}
