package text

import (
	"errors"

	"github.com/google/uuid"
)

var errUUID = errors.New("must be a UUID of 8-4-4-4-12 hexadecimal digits")

// UUID reads the canonical 8-4-4-4-12 form of any version, in either case; braces, URNs and bare digits, which
// uuid.Parse takes too, are refused.
func UUID(s string) (uuid.UUID, error) {
	if len(s) != 36 {
		return uuid.Nil, errUUID
	}
	id, err := uuid.Parse(s)
	if err != nil {
		return uuid.Nil, errUUID
	}
	return id, nil
}

// CanonicalUUID spells an id as the server does, in lower case. What is no id, nil included, stays as it is.
func CanonicalUUID(sent *string) *string {
	if sent == nil {
		return nil
	}
	id, err := UUID(*sent)
	if err != nil {
		return sent
	}
	spelled := id.String()
	return &spelled
}

// CanonicalUUIDs is CanonicalUUID for a list; nil stays nil.
func CanonicalUUIDs(sent []string) []string {
	if sent == nil {
		return nil
	}
	spelled := make([]string, len(sent))
	for i := range sent {
		spelled[i] = *CanonicalUUID(&sent[i])
	}
	return spelled
}
