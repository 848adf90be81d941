package endpoint

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"

	"stoa/graph/fault"
	"stoa/graph/limits"
	"stoa/graph/viewer"
)

// Path of the GraphQL endpoint.
const Path = "/graphql"

// route finds the handler of a path; nothing is ever redirected.
func (s *server) route(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == Path && r.Method == http.MethodPost:
		s.serve(w, r)
	case r.URL.Path == Path:
		w.Header().Set("Allow", http.MethodPost)
		s.fail(w, r, fault.New(fault.MethodNotAllowed))
	case r.URL.Path == "/healthz" && (r.Method == http.MethodGet || r.Method == http.MethodHead):
		write(w, http.StatusOK, map[string]string{"status": "ok"})
	case r.URL.Path == "/healthz":
		w.Header().Set("Allow", http.MethodGet+", "+http.MethodHead)
		s.fail(w, r, fault.New(fault.MethodNotAllowed))
	default:
		s.fail(w, r, fault.New(fault.NotFound))
	}
}

// serve is the life of one GraphQL request.
func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	ctx, _ := limits.WithRecord(r.Context())
	r = r.WithContext(ctx)
	params, err := readRequest(w, r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	asked, unfit := measure(params.Query, params.OperationName)
	v, err := s.admit(r, asked.mutating)
	if err == nil {
		err = unfit
	}
	if err == nil && asked.introspects && v.Kind != viewer.Operator {
		err = fault.New(fault.Unauthorized).Say("Introspection needs the operator's token.")
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	status, answer := s.run(viewer.With(ctx, v), v, params)
	if status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", "Bearer")
	}
	write(w, status, answer)
}

// run executes an admitted document.
func (s *server) run(ctx context.Context, v viewer.Viewer, params *graphql.RawParams) (int, any) {
	executor := s.forOthers
	if v.Kind == viewer.Operator {
		executor = s.forOperators
	}
	ctx = graphql.StartOperationTrace(ctx)
	operation, refused := executor.CreateOperationContext(ctx, params)
	if len(refused) > 0 {
		refused = refused[:min(len(refused), maxErrors)]
		answer := executor.DispatchError(graphql.WithOperationContext(ctx, operation), refused)
		return http.StatusBadRequest, refusal{Errors: answer.Errors}
	}
	next, ctx := executor.DispatchOperation(ctx, operation)
	answer := next(ctx)
	if answer == nil { // the client has gone
		return http.StatusServiceUnavailable, s.failure(ctx, fault.New(fault.ServiceUnavailable))
	}
	if v.Kind == viewer.Anonymous && onlyUnauthorized(answer) {
		return http.StatusUnauthorized, answer
	}
	return http.StatusOK, answer
}

func onlyUnauthorized(answer *graphql.Response) bool {
	for _, e := range answer.Errors {
		if e.Extensions["code"] != fault.Unauthorized {
			return false
		}
	}
	return len(answer.Errors) > 0
}
