package wire

import (
	"fmt"
	"io"
)

// UnmarshalGQL is called by gqlgen, for a field that is present. A value that is not a T is an *Error of Kind Type.
func (n *Nullable[T]) UnmarshalGQL(sent any) error {
	value, ok := sent.(T)
	if sent != nil && !ok {
		return &Error{Kind: Type, Reason: fmt.Sprintf("the value must be a %T or null", value)}
	}
	*n = Nullable[T]{Set: true, Null: sent == nil, Value: value}
	return nil
}

// MarshalGQL is called by gqlgen. A field that was not sent is null.
func (n Nullable[T]) MarshalGQL(w io.Writer) {
	if err := Write(w, n); err != nil {
		panic(err) // gqlgen writes into memory, and recovers
	}
}
