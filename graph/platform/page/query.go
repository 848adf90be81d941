package page

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Param is a query parameter as it was sent: all values the query holds for it, none where it was left out. In GraphQL it
// is a string or an integer.
type Param []string

// UnmarshalGQL takes what GraphQL was sent as the parameter's one value.
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

// MarshalGQL writes the first value, which is all that GraphQL can have sent.
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
