package client

import (
	"bytes"
	"crypto/rand"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// The box opens under one key for both sides, so by itself it does not say who sealed it, nor under which id. The nonce, which the
// box authenticates, does: this package makes it of the parties and the id of the message (docs/clients.md). Any client opens such
// an envelope, and the mark cannot be taken off, since the box opens under no other nonce.

// Errors of a message that is refused, though it opens. Refusal returns a word for each.
var (
	// ErrReflected says that a message goes the other way: the server shows the words of one side as those of the other.
	ErrReflected = errors.New("the message was sealed by the other side of this conversation")
	// ErrAltered says that the server changed a party or the client_message_id of a message, or shows it where it does not belong.
	ErrAltered = errors.New("the message was not sealed as what the server shows it")
	// ErrReplayed says that the server shows a message again under another id, or announces it again by another event.
	ErrReplayed = errors.New("the message was opened before under another id or by another event")
	// ErrStale says that a bound message was sealed longer ago than any client still sends it and any server keeps it.
	ErrStale = errors.New("the message was sealed over 91 days ago")
	// ErrUnbound says that the client that sealed a message does not bind its nonces, and that this agent requires it.
	ErrUnbound = errors.New("nothing binds the message to its sender and its id")
)

// refusals names the errors above for programs.
var refusals = []struct {
	reason error
	word   string
}{
	{ErrReflected, "reflected"}, {ErrAltered, "altered"}, {ErrReplayed, "replayed"}, {ErrStale, "stale"}, {ErrUnbound, "unbound"},
}

// Refusal returns why a message was refused: reflected, altered, replayed, stale or unbound. It returns the empty string for every
// other error, such as a message that does not open.
func Refusal(err error) string {
	for _, row := range refusals {
		if errors.Is(err, row.reason) {
			return row.word
		}
	}
	return ""
}

// staleAfter is how old a bound message may be. An outbox forgets an envelope after that time, and a server keeps a message for 90
// days (§2.4).
const staleAfter = keptFor

// The parts of a bound nonce in bytes: the time and random bytes, the direction, the rest.
const (
	freshSize     = 8
	directionSize = 6
)

// NewNonce is a fresh nonce that is bound to the message: to its keys, its parties and its client_message_id, which must be set.
func (e Envelope) NewNonce(senderID string) ([nonceSize]byte, error) {
	var fresh [freshSize]byte
	_, _ = rand.Read(fresh[:])                                       // it never fails
	binary.BigEndian.PutUint32(fresh[:4], uint32(time.Now().Unix())) // it fits until 2106
	return e.BindNonce(senderID, fresh)
}

// BindNonce is the bound nonce with the given first 8 bytes.
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
		return uuid.UUID{}, fmt.Errorf("%q is no id", id)
	}
	return parsed, nil
}

func digest(domain string, parts [][]byte) []byte {
	sum := sha512.Sum512(append([]byte(domain), bytes.Join(parts, nil)...))
	return sum[:]
}

// Bound reports whether the nonce of a message is bound to what the server says of it, false for a client that binds nothing. It
// returns ErrReflected or ErrAltered if the nonce is bound to something else.
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
	oneKey := m.SenderKey == m.RecipientKey // then the direction says nothing, and the message alone decides
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

// SealedAt is when the sender says that it sealed a message, to the second. It means nothing unless the message is bound.
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
