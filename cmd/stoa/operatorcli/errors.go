package operatorcli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"slices"
	"strings"

	"github.com/Khan/genqlient/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// RefusedError is an error that the server answered.
type RefusedError struct {
	// Code is one of §7.
	Code string
	text string
}

// Error implements error.
func (e *RefusedError) Error() string { return e.text }

// explainingClient adds to errors what to do about them.
type explainingClient struct {
	graphql.Client

	address, tokenSource string
}

// MakeRequest implements graphql.Client.
func (e *explainingClient) MakeRequest(ctx context.Context, request *graphql.Request, response *graphql.Response) error {
	err := e.Client.MakeRequest(ctx, request, response)
	var (
		refused *graphql.HTTPError
		failed  gqlerror.List
		network net.Error
	)
	switch {
	case err == nil:
		return nil
	case errors.As(err, &failed) && len(failed) > 0:
		return e.refusal(failed)
	case errors.As(err, &refused) && len(refused.Response.Errors) > 0 && refused.Response.Errors[0].Extensions != nil:
		return e.refusal(refused.Response.Errors)
	case errors.As(err, &refused):
		return fmt.Errorf("%s answered %d: it is still starting, or no operator listener of Stoa (--address)",
			e.address, refused.StatusCode)
	case errors.As(err, &network) && network.Timeout():
		return fmt.Errorf("%s has not answered in time; what was asked for may have been done all the same: see stoa operator audit",
			e.address)
	case errors.As(err, &network):
		return fmt.Errorf("no server answers at %s; is it running there? (--address): %w", e.address, innermost(err))
	default:
		return fmt.Errorf("%s gave an answer that cannot be understood: %w", e.address, err)
	}
}

// refusal returns the first error of an answer, with the fields that caused it.
func (e *explainingClient) refusal(all gqlerror.List) error {
	first := all[0]
	code, _ := first.Extensions["code"].(string)
	var said strings.Builder
	said.WriteString(strings.TrimSuffix(first.Message, "."))
	if code != "" {
		fmt.Fprintf(&said, " (%s)", code)
	}
	fields, _ := first.Extensions["fields"].(map[string]any)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&said, "\n  %s %v", field, fields[field])
	}
	if code == "unauthorized" {
		fmt.Fprintf(&said, "\n  the token came from %s", e.tokenSource)
	}
	if wait, ok := first.Extensions["retryAfter"].(float64); ok {
		fmt.Fprintf(&said, "\n  try again in %.0f s", wait)
	}
	return &RefusedError{code, said.String()}
}

// innermost returns the error that all others wrap.
func innermost(err error) error {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return err
		}
		err = inner
	}
}
