// Package eventid makes the ids of events (§6). An id is a UUID of version 7 that ends with a check of its other bits and of the
// event's recipient. So an id whose event was acknowledged and deleted differs from an id that never belonged to the recipient.
//
// The check is not secret: a client that forges a valid id deceives only itself. Any other id passes with a chance of one in
// 2^32.
package eventid

import (
	"bytes"
	"crypto/sha256"

	"github.com/google/uuid"
)

// checked is the number of bytes before the check, which replaces random bytes.
const checked = 12

// New makes the id of an event.
func New(recipient uuid.UUID) uuid.UUID {
	id := uuid.Must(uuid.NewV7())
	copy(id[checked:], check(recipient, id))
	return id
}

// IsOf reports whether an id was made for an event of this recipient.
func IsOf(recipient, id uuid.UUID) bool { return bytes.Equal(id[checked:], check(recipient, id)) }

func check(recipient, id uuid.UUID) []byte {
	sum := sha256.Sum256(append(recipient[:], id[:checked]...))
	return sum[:len(id)-checked]
}
