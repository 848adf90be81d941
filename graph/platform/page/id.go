package page

import (
	"github.com/google/uuid"

	"stoa/graph/platform/text"
)

// ID reads the query parameter called name, given as all values the query holds for it: one UUID, such as the `before` of
// a cursor list (contract §1). It returns a nil id where none was sent, and refuses one that is repeated, empty or malformed.
func ID(name string, values []string) (*uuid.UUID, *Error) {
	switch len(values) {
	case 0:
		return nil, nil
	case 1:
	default:
		return nil, &Error{name, "must be sent once"}
	}
	id, err := text.UUID(values[0])
	if err != nil {
		return nil, &Error{name, err.Error()}
	}
	return &id, nil
}
