package server

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/viewer"
)

// Path of the GraphQL endpoint.
const Path = "/graphql"

// route finds the handler of a path; nothing is ever redirected but a browser that has signed in or out.
func (s *server) route(w http.ResponseWriter, r *http.Request) {
	handler, found := s.byPath[r.URL.Path]
	if !found {
		s.mounted(w, r)
		return
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if handle, ok := handler[method]; ok {
		handle(w, r)
		return
	}
	s.wrongMethod(w, r, handler)
}

// methods are the handlers of one path; GET answers HEAD too.
type methods map[string]http.HandlerFunc

func (s *server) wrongMethod(w http.ResponseWriter, r *http.Request, known methods) {
	allowed := slices.Sorted(maps.Keys(known))
	if known[http.MethodGet] != nil {
		allowed = append(allowed, http.MethodHead)
	}
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	s.fail(w, r, fault.New(fault.MethodNotAllowed))
}

// paths is the table of what this package answers itself.
func (s *server) paths() map[string]methods {
	return map[string]methods{
		Path: {http.MethodPost: s.observe},
		"/healthz": {http.MethodGet: func(w http.ResponseWriter, _ *http.Request) {
			write(w, http.StatusOK, map[string]string{"status": "ok"})
		}},
		"/":            {http.MethodGet: s.index},
		"/style.css":   {http.MethodGet: fixed("style.css")},
		"/icon.svg":    {http.MethodGet: fixed("icon.svg")},
		"/favicon.ico": {http.MethodGet: fixed("icon.svg")}, // what browsers look for on pages that name none
		signInPath:     {http.MethodGet: s.askToken, http.MethodPost: s.signIn},
		signOutPath:    {http.MethodPost: s.signOut},
	}
}

// mounted passes a request on to what the path belongs to, once it is clear that an operator sent it.
func (s *server) mounted(w http.ResponseWriter, r *http.Request) {
	mount, found := find(s.Mounts, r.URL.Path)
	if !found {
		s.fail(w, r, fault.New(fault.NotFound))
		return
	}
	if !mount.Open {
		v, err := s.admitOperator(w, r)
		if err != nil {
			s.refuse(w, r, err)
			return
		}
		r = r.WithContext(viewer.With(r.Context(), v))
	}
	defend(w, mount.Policy)
	mount.Handler.ServeHTTP(w, r)
}

// serve answers one GraphQL request; record is that of the limits it meets. Without a token nothing of the request is read.
func (s *server) serve(w http.ResponseWriter, r *http.Request, record *limits.Record) outcome {
	operation := metrics.NoOperation
	failed := func(err error) outcome {
		record.Headers(w.Header())
		s.fail(w, r, err)
		known := faultOf(r.Context(), err)
		return outcome{operation, known.Status(), known.Code}
	}
	sender, err := s.identify(w, r)
	if err != nil {
		w.Header().Set("Connection", "close") // else net/http waits for the body before it answers
		return failed(err)
	}
	params, err := readRequest(w, r)
	if err != nil {
		return failed(err)
	}
	asked, unfit := measure(params.Query, params.OperationName)
	operation = operationOf(asked.mutating)
	ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
	defer cancel()
	r = r.WithContext(ctx)
	v, err := s.admit(w, r, sender, asked.mutating)
	if err == nil {
		err = unfit
	}
	if err == nil && asked.introspects && v.Kind != viewer.Operator {
		err = fault.New(fault.Unauthorized).Say("Introspection needs the operator's token.")
	}
	if err != nil {
		return failed(err)
	}
	status, answer := s.run(viewer.With(r.Context(), v), v, params)
	record.Headers(w.Header())
	write(w, status, answer)
	return outcome{operation, status, codeOf(answer)}
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
	return http.StatusOK, answer
}
