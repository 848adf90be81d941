package server

import (
	"context"
	"encoding/json"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
)

// Answer is the result of a GraphQL operation.
type Answer struct {
	// Data is null if nothing was run.
	Data   json.RawMessage
	Errors gqlerror.List
}

// Ask runs one GraphQL operation for a page of this process as the caller of ctx, with the same executor, errors and metrics as a
// request over HTTP. Variables hold JSON values. It is safe for concurrent use.
type Ask func(ctx context.Context, query string, variables map[string]any) Answer

// ask implements Ask.
func (s *server) ask(ctx context.Context, query string, variables map[string]any) Answer {
	began := time.Now()
	raw, err := json.Marshal(variables)
	if err != nil {
		return Answer{Errors: s.errorAnswer(ctx, err).Errors}
	}
	params := &graphql.RawParams{Query: query}
	if params.Variables, err = readVariables(wire.Raw(raw)); err != nil {
		return Answer{Errors: s.errorAnswer(ctx, err).Errors}
	}
	info, err := examineDocument(query, "")
	if err != nil {
		return Answer{Errors: s.errorAnswer(ctx, err).Errors}
	}
	ctx, cancel := db.Bounded(ctx, db.RequestTimeout)
	defer cancel()
	_, answer := s.run(ctx, viewer.From(ctx), params)
	s.Metrics.GraphQL.Done(operationOf(info.mutating), codeOf(answer), time.Since(began))
	switch answer := answer.(type) {
	case *graphql.Response:
		return Answer{answer.Data, answer.Errors}
	case errorAnswer:
		return Answer{Errors: answer.Errors}
	default:
		panic("run answers with one of the two")
	}
}
