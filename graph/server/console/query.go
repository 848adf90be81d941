package console

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"stoa/graph/platform/fault"
)

// refusal is the first error of a GraphQL answer, as the fault it came from.
type refusal struct {
	known *fault.Error
}

// Error implements error.
func (r *refusal) Error() string { return r.known.Error() }

// Unwrap leads to the fault.
func (r *refusal) Unwrap() error { return r.known }

// refused makes it of an error of GraphQL.
func refused(first *gqlerror.Error) *refusal {
	code, ok := first.Extensions["code"].(fault.Code)
	if !ok {
		code = fault.InternalError
	}
	known := fault.New(code).Say(first.Message)
	known.Fields, _ = first.Extensions["fields"].(map[string]string)
	return &refusal{known}
}

// ask runs an operation and decodes its data; numbers stay unchanged. An error of the answer is a *refusal.
func (s *console) ask(ctx context.Context, query string, variables map[string]any) (map[string]any, error) {
	answer := s.Ask(ctx, query, variables)
	if len(answer.Errors) > 0 {
		return nil, refused(answer.Errors[0])
	}
	decoder := json.NewDecoder(bytes.NewReader(answer.Data))
	decoder.UseNumber()
	var data map[string]any
	if err := decoder.Decode(&data); err != nil {
		return nil, err
	}
	return data, nil
}

// object is a member of an answer that is an object; empty if it is null.
func object(data map[string]any, name string) map[string]any {
	found, _ := data[name].(map[string]any)
	return found
}

// objects is a member of an answer that is a list of objects.
func objects(data map[string]any, name string) []map[string]any {
	list, _ := data[name].([]any)
	all := make([]map[string]any, 0, len(list))
	for _, one := range list {
		if found, ok := one.(map[string]any); ok {
			all = append(all, found)
		}
	}
	return all
}
