package scalar

import (
	"github.com/99designs/gqlgen/graphql"
	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// MarshalUUID writes an id in lower case.
func MarshalUUID(id uuid.UUID) graphql.Marshaler { return spelled(id) }

// UnmarshalUUID reads an id in its canonical form, in either case; anything else is invalid_id.
func UnmarshalUUID(sent any) (uuid.UUID, error) {
	s, ok := sent.(string)
	if !ok {
		return uuid.Nil, wrong(fault.InvalidID, "must be a string that holds a UUID")
	}
	id, err := text.UUID(s)
	if err != nil {
		return uuid.Nil, wrong(fault.InvalidID, err.Error())
	}
	return id, nil
}
