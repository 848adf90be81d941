// Package relay holds the types that the generated code of connections needs: cursors, directions, and the condition that finds
// the rows behind a cursor. It takes the place of entgql, which generates that code: a program that imports entgql has ent's and
// gqlgen's generators in it. Names are entgql's, since the generated code names them; ent/entc sets the import.
//
// All of it is safe for concurrent use.
package relay

import (
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vmihailenco/msgpack/v5"
)

// PageInfo says whether a connection goes on before and behind a page.
type PageInfo[T any] struct {
	HasNextPage     bool
	HasPreviousPage bool
	StartCursor     *Cursor[T]
	EndCursor       *Cursor[T]
}

// Cursor is the place of a row in a connection: its id, and as a list the values that the rows are ordered by.
type Cursor[T any] struct {
	ID    T   `msgpack:"i"`
	Value any `msgpack:"v,omitempty"`
}

// MarshalGQL writes the cursor as a text that only UnmarshalGQL reads.
func (c Cursor[T]) MarshalGQL(w io.Writer) {
	packed, err := msgpack.Marshal(c)
	if err != nil {
		panic(err) // the values are columns of ent's types
	}
	graphql.MarshalString(base64.RawStdEncoding.EncodeToString(packed)).MarshalGQL(w)
}

// UnmarshalGQL reads a cursor that MarshalGQL wrote. A client may have forged it.
func (c *Cursor[T]) UnmarshalGQL(sent any) error {
	text, ok := sent.(string)
	if !ok {
		return fmt.Errorf("a cursor is a string, not %T", sent)
	}
	packed := base64.NewDecoder(base64.RawStdEncoding, strings.NewReader(text))
	if err := msgpack.NewDecoder(packed).Decode(c); err != nil {
		return fmt.Errorf("this is no cursor: %w", err)
	}
	return nil
}

// ErrNodeNotFound is the error of a query for the node of an id that no row has.
func ErrNodeNotFound(id any) *gqlerror.Error {
	err := gqlerror.Errorf("There is no node with the id %v.", id)
	errcode.Set(err, "NOT_FOUND")
	return err
}
