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

// Errors of an envelope that does not match the server's record.
var (
	// ErrReflected says that a message goes the other way: the server shows the words of one side as those of the other.
	ErrReflected = errors.New("the message was sealed by the other side of this conversation")
	// ErrAltered says that the server changed a party or the client_message_id of a message, or shows it where it does not belong.
	ErrAltered = errors.New("the message was not sealed as what the server shows it")
	// ErrUnbound says that the client that sealed a message does not bind its nonces.
	ErrUnbound = errors.New("nothing binds the message to its sender and its id")
)

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
		parsed, err := uuid.Parse(id)
		if err != nil {
			return nil, nil, fmt.Errorf("an id of the message: %w", err)
		}
		parts = append(parts, parsed[:])
	}
	message = digest("stoa nonce message 1\n", parts)[:nonceSize-freshSize-directionSize]
	return direction, message, nil
}

func digest(domain string, parts [][]byte) []byte {
	sum := sha512.Sum512(append([]byte(domain), bytes.Join(parts, nil)...))
	return sum[:]
}

// Bound reports whether the nonce of a message is bound to what the server says of it, false for a client that binds nothing. It
// returns ErrReflected or ErrAltered if the nonce is bound to something else.
func (m Message) Bound() (bool, error) {
	nonce, err := base64.StdEncoding.Strict().DecodeString(m.Nonce)
	if err != nil || len(nonce) != nonceSize {
		return false, fmt.Errorf("%w: the nonce is not %d bytes of base64", ErrSealed, nonceSize)
	}
	fresh, rest := nonce[:freshSize], nonce[freshSize:]
	direction, message, err := m.binding(m.SenderID, fresh)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrAltered, err)
	}
	if bytes.Equal(rest[:directionSize], direction) {
		if !bytes.Equal(rest[directionSize:], message) {
			return false, ErrAltered
		}
		return true, nil
	}
	m.SenderKey, m.RecipientKey = m.RecipientKey, m.SenderKey
	if direction, _, err = m.binding(m.SenderID, fresh); err == nil && bytes.Equal(rest[:directionSize], direction) {
		return false, ErrReflected
	}
	return false, nil
}
