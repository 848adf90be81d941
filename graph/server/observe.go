package server

import (
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
)

// outcome is what is told of an answered request.
type outcome struct {
	operation metrics.Operation
	status    int
	// code of the first error; empty for none.
	code fault.Code
}

// observe counts, times and traces GraphQL requests.
func (s *server) observe(w http.ResponseWriter, r *http.Request) {
	began := time.Now()
	r, finish := tracing.Request(s.Tracer, r)
	ctx, record := limits.WithRecord(r.Context())
	done := outcome{metrics.NoOperation, http.StatusInternalServerError, fault.InternalError} // what a panic comes to
	defer func() {
		finish(Path, done.status, requestID(ctx))
		s.Metrics.GraphQL.Done(done.operation, done.code, time.Since(began))
		for _, t := range record.Taken() {
			if !t.Allowed {
				s.Metrics.Limits.Refused(t.Limit.Name)
			}
		}
	}()
	done = s.serve(w, r.WithContext(ctx), record)
}

func operationOf(mutating bool) metrics.Operation {
	if mutating {
		return metrics.Mutation
	}
	return metrics.Query
}

// codeOf is the code of the first error of an answer.
func codeOf(answer any) fault.Code {
	var errors gqlerror.List
	switch answer := answer.(type) {
	case *graphql.Response:
		errors = answer.Errors
	case refusal:
		errors = answer.Errors
	}
	if len(errors) == 0 {
		return ""
	}
	code, _ := errors[0].Extensions["code"].(fault.Code)
	return code
}

// traceRoots makes a span of each root field that is resolved.
func traceRoots(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
	name := string(graphql.GetOperationContext(ctx).Operation.Operation) + " " + graphql.GetRootFieldContext(ctx).Field.Name
	ctx, end := tracing.Operation(ctx, name)
	defer end(nil)
	return next(ctx)
}
