package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/google/uuid"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
)

// Range bounds an integer. Absent is its value if it was not sent.
type Range struct{ Absent, Least, Most int64 }

// Integer reads the query parameter called name, given as all its values in the query: one decimal integer in a range. Repeated or
// empty parameters, signs, spaces and leading zeros are refused with the code.
func Integer(code fault.Code, name string, values []string, r Range) (int64, error) {
	switch len(values) {
	case 0:
		return r.Absent, nil
	case 1:
	default:
		return 0, fault.Field(code, name, "must be sent once")
	}
	n, err := strconv.ParseInt(values[0], 10, 64)
	if err != nil || n < r.Least || n > r.Most || strconv.FormatInt(n, 10) != values[0] {
		return 0, fault.Field(code, name, fmt.Sprintf("must be a decimal integer from %d to %d", r.Least, r.Most))
	}
	return n, nil
}

// Flag reads the query parameter called name, given as all its values in the query: true or false; absent if it was not sent. Its
// fault has the code.
func Flag(code fault.Code, name string, values []string, absent bool) (bool, error) {
	switch {
	case len(values) == 0:
		return absent, nil
	case len(values) == 1 && values[0] == "true":
		return true, nil
	case len(values) == 1 && values[0] == "false":
		return false, nil
	default:
		return false, fault.Field(code, name, "must be true or false, sent once, or left out")
	}
}

// Param is a query parameter as it was sent: all its values in the query, none if it was left out. In GraphQL it is a string or
// an integer.
type Param []string

// UnmarshalGQL implements graphql.Unmarshaler: the parameter has one value.
func (p *Param) UnmarshalGQL(sent any) error {
	switch sent := sent.(type) {
	case string:
		*p = Param{sent}
	case json.Number:
		*p = Param{sent.String()}
	case int64, int:
		*p = Param{fmt.Sprint(sent)}
	default:
		return errors.New("must be a string or an integer")
	}
	return nil
}

// MarshalGQL implements graphql.Marshaler. It writes the first value; GraphQL has no others.
func (p Param) MarshalGQL(w io.Writer) {
	value := ""
	if len(p) > 0 {
		value = p[0]
	}
	quoted, err := json.Marshal(value)
	if err == nil {
		_, err = w.Write(quoted)
	}
	if err != nil {
		panic(err) // gqlgen writes into memory
	}
}

// ID reads the query parameter called name, given as all its values in the query: one UUID, such as the `before` of a cursor list
// (§1.5). It returns nil if none was sent, and invalid_id for one that is repeated, empty or malformed.
func ID(name string, values []string) (*uuid.UUID, error) {
	switch len(values) {
	case 0:
		return nil, nil
	case 1:
	default:
		return nil, fault.Field(fault.InvalidID, name, "must be sent once")
	}
	id, err := text.UUID(values[0])
	if err != nil {
		return nil, fault.Field(fault.InvalidID, name, err.Error())
	}
	return &id, nil
}
