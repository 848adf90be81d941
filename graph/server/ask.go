package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// Answer is the result of a GraphQL operation.
type Answer struct {
	Errors gqlerror.List `json:"errors,omitempty"`
	// Data is null if nothing was run.
	Data json.RawMessage `json:"data"`
}

// Ask runs one GraphQL operation for a page of this process as the caller of ctx, with the same executor, errors and metrics as a
// request over HTTP. Variables hold JSON values. It is safe for concurrent use.
type Ask func(ctx context.Context, query string, variables map[string]any) Answer

// ask implements Ask.
func (s *server) ask(ctx context.Context, query string, variables map[string]any) Answer {
	began := time.Now()
	info, err := examineDocument(query, "")
	if err != nil {
		return s.refusal(ctx, err)
	}
	raw, err := json.Marshal(variables)
	if err != nil {
		return s.refusal(ctx, err)
	}
	params := &graphql.RawParams{Query: query}
	if params.Variables, err = readVariables(raw); err != nil {
		return s.refusal(ctx, err)
	}
	ctx, cancel := db.Bounded(ctx, db.RequestTimeout)
	defer cancel()
	_, answer := s.run(ctx, viewer.From(ctx), params)
	s.count(began, operationOf(info.mutating), codeOf(answer))
	return answer
}
