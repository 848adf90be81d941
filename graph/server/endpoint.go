// Package server is the operator listener (contract §10): GraphQL over HTTP, the pages by which a browser signs in, and the
// mounts that others put beside them.
//
// Everything but health, the sign-in and open mounts needs the operator's token, as a bearer token or as the session that a
// browser got for it (package session). A session's requests change something only if this listener's own pages made them. Who
// is refused sees the sign-in page in a browser, and a fault otherwise.
//
// As for GraphQL:
// It admits the caller, bounds what a document may ask for before the executor sees it, runs it, and shows failures as faults.
// It decides nothing else: the methods decide who may call a field, so REST and GraphQL answer alike. The operator's token makes an
// operator, an agent's token that agent. A request without any token is 401, registration and introspection included, before
// anything of it is read. A right token always passes; wrong ones are counted per client address (see loginThrottle).
//
// A request is one JSON object {query, variables, operationName} by POST; batches are refused. A mutation has exactly one root
// field, so that every change is admitted, counted and audited by itself. Documents over the limits of limits.go are refused
// before they are validated, and connections cost what they may return. Introspection and suggestions of field names are the
// operator's.
//
// Failures come as {"errors": [{message, path, extensions: {code, fields, retryAfter}}]} with the code, the text and the
// fields of graph/platform/fault; unknown errors are logged under the request id and shown as internal_error. The status is the
// fault's where nothing was run, and 200 where something was. RateLimit headers tell what is left of the limits that a request met,
// an agent's mutation and a registration.
package server

import (
	"log/slog"
	"net/http"
	"net/netip"

	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"go.opentelemetry.io/otel/trace"

	"stoa/graph"
	"stoa/graph/exec"
	"stoa/graph/platform/metrics"
	"stoa/graph/server/session"
)

// Config is what the endpoint serves.
type Config struct {
	Graph  *graph.Graph
	Logger *slog.Logger
	// Metrics counts GraphQL requests; nil counts nothing.
	Metrics *metrics.Metrics
	// Tracer makes a trace of each GraphQL request; nil for none.
	Tracer trace.Tracer
	// OperatorToken is the bearer token of the operators; while it is empty nobody is one.
	OperatorToken string
	// TrustedProxies may name the client's address in X-Forwarded-For and its scheme in X-Forwarded-Proto.
	TrustedProxies []netip.Prefix
	// Mounts are what else the listener carries.
	Mounts []Mount
}

type server struct {
	Config
	byPath   map[string]methods
	sessions *session.Sessions
	throttle loginThrottle
	// forOperators runs documents with introspection and suggestions, forOthers without.
	forOperators, forOthers *executor.Executor
}

// New builds the handler of the operator listener. It is safe for concurrent use.
func New(c Config) http.Handler {
	if c.Metrics == nil {
		c.Metrics = new(metrics.Metrics)
	}
	s := &server{Config: c, sessions: session.New(c.OperatorToken), throttle: newLoginThrottle(c.Logger)}
	s.byPath = s.paths()
	s.forOperators, s.forOthers = s.newExecutor(), s.newExecutor()
	s.forOperators.Use(extension.Introspection{})
	s.forOperators.SetDefaultRulesFn(withSuggestions)
	s.forOthers.SetDisableSuggestion(true)
	s.forOthers.SetDefaultRulesFn(withoutSuggestions)
	return s.headers(s.recover(http.HandlerFunc(s.route)))
}

func (s *server) newExecutor() *executor.Executor {
	e := executor.New(exec.NewExecutableSchema(exec.Config{Resolvers: s.Graph, Complexity: costs()}))
	e.SetParserTokenLimit(maxTokens)
	e.SetErrorPresenter(s.present)
	e.SetRecoverFunc(s.recovered)
	e.Use(extension.FixedComplexityLimit(maxComplexity))
	if s.Tracer != nil {
		e.AroundRootFields(traceRoots)
	}
	return e
}
