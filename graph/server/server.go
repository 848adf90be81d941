// Package server is the operator listener (§10): GraphQL over HTTP, the sign-in pages for browsers, and handlers of other
// packages (mounts).
//
// Everything but health, the sign-in and open mounts needs an operator's token: the token of the installation, or one that
// operators made for a person (package operator). It is sent as a bearer token, or as the session that a browser got for it
// (signin.go). A request with a session changes something only if one of this listener's own pages made it. A refused caller sees
// the sign-in page in a browser, and a fault otherwise.
//
// The package decides nothing about the domains: their methods decide who may call a field, so REST and GraphQL answer alike. A
// token decides the caller: an operator or an agent. A GraphQL request without any token is 401 before anything of it is read;
// this includes registration and introspection. A right token always passes; wrong ones are counted per client address
// (wrongToken).
//
// A GraphQL request is one JSON object {query, variables, operationName} by POST; batches are refused. A mutation has exactly one
// root field, so that every change is authenticated, counted and audited by itself. Documents over the limits of limits.go are
// refused before they are validated. A connection costs as much as it may return. Only operators get introspection and
// suggestions of field names.
//
// Failures are {"errors": [{message, path, extensions: {code, fields, retryAfter}}]} with the code, the text and the fields of
// graph/platform/fault; unknown errors are logged with the request id and shown as internal_error. The status is the fault's if
// nothing was run, and 200 otherwise. RateLimit headers show the rest of each limit that a request met, as in REST.
package server

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"go.opentelemetry.io/otel/trace"

	"stoa/graph"
	"stoa/graph/exec"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
)

// Config holds the settings and dependencies of the listener.
type Config struct {
	Graph  *graph.Graph
	Logger *slog.Logger
	// Metrics counts GraphQL requests; nil counts nothing.
	Metrics *metrics.Metrics
	// Tracer makes a trace of each GraphQL request; nil for none.
	Tracer trace.Tracer
	// OperatorToken is the bearer token of the installation, which the first operator uses. If it is empty, no session is valid.
	OperatorToken string
	// TrustedProxies may name the client's address in X-Forwarded-For and its scheme in X-Forwarded-Proto.
	TrustedProxies []netip.Prefix
	// Version is the program's version, which /healthz shows.
	Version string
	// Mounts are the other handlers of the listener.
	Mounts []Mount
	// Pages builds the operators' pages: the handler of / and of every path that belongs to neither this package nor a mount. Its
	// callers are operators, and no other site made a request that changes something. The pages need no script. Nil for none.
	Pages func(Ask) http.Handler
	// Stylesheet is the CSS of all pages, at /style.css.
	Stylesheet []byte
	// Codes sign in browsers without the token; nil for none.
	Codes *SignInCodes
}

type server struct {
	Config
	byPath   map[string]methods
	sessions sessions
	guesses  *limits.Window
	// forOperators runs documents with introspection and suggestions, forOthers without.
	forOperators, forOthers *executor.Executor
	pages                   http.Handler
}

// New builds the handler of the operator listener. It is safe for concurrent use.
func New(c Config) http.Handler {
	if c.Metrics == nil {
		c.Metrics = new(metrics.Metrics)
	}
	s := &server{Config: c, sessions: newSessions(c.OperatorToken), guesses: limits.NewWindow(maxGuesses, guessWindow)}
	s.byPath = s.paths()
	s.forOperators, s.forOthers = s.newExecutor(), s.newExecutor()
	s.forOperators.Use(extension.Introspection{})
	s.forOperators.SetDefaultRulesFn(withSuggestions)
	s.forOthers.SetDisableSuggestion(true)
	s.forOthers.SetDefaultRulesFn(withoutSuggestions)
	if c.Codes == nil {
		s.Codes = new(SignInCodes)
	}
	if c.Pages != nil {
		s.pages = c.Pages(s.ask)
	}
	return s.headers(s.recover(http.HandlerFunc(s.dispatch)))
}

func (s *server) newExecutor() *executor.Executor {
	e := executor.New(priced{exec.NewExecutableSchema(exec.Config{Resolvers: root{s.Graph}})})
	e.SetParserTokenLimit(maxTokens)
	e.SetErrorPresenter(s.presentError)
	e.SetRecoverFunc(s.recoverPanic)
	e.Use(extension.FixedComplexityLimit(maxComplexity))
	if s.Tracer != nil {
		e.AroundRootFields(traceRootField)
	}
	return e
}

// Mount is another handler of the operator listener: a page, a dashboard, metrics.
type Mount struct {
	// Path such as /metrics; the paths below it belong to the mount too.
	Path string
	// Title and About describe the mount on pages that link to it.
	Title, About string
	// Open: no token is needed.
	Open bool
	// Text: it answers with text or JSON; the pages show it between a heading and their navigation.
	Text bool
	// ReadOnly: the mount takes only GET and HEAD.
	ReadOnly bool
	// Policy replaces pagePolicy as the Content-Security-Policy of the mount's pages, if pagePolicy is too strict.
	Policy string
	// Handler gets whole paths. Unless the mount is open, its caller is an operator (graph/platform/viewer), and no other site
	// made a request that changes something.
	Handler http.Handler
}

// findMount returns the mount that a path belongs to.
func findMount(mounts []Mount, path string) (Mount, bool) {
	for _, m := range mounts {
		if path == m.Path || strings.HasPrefix(path, m.Path+"/") {
			return m, true
		}
	}
	return Mount{}, false
}

// dispatch finds the handler of a path and method. It redirects only a browser that has signed in or out.
func (s *server) dispatch(w http.ResponseWriter, r *http.Request) {
	byMethod, found := s.byPath[r.URL.Path]
	if !found {
		s.mounted(w, r)
		return
	}
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	if handle, ok := byMethod[method]; ok {
		handle(w, r)
		return
	}
	s.methodNotAllowed(w, r, byMethod)
}

// methods are the handlers of one path; GET answers HEAD too.
type methods map[string]http.HandlerFunc

func (s *server) methodNotAllowed(w http.ResponseWriter, r *http.Request, known methods) {
	allowed := slices.Sorted(maps.Keys(known))
	if _, readable := known[http.MethodGet]; readable {
		allowed = append(allowed, http.MethodHead)
	}
	s.fail(w, r, web.NotAllowed(w.Header(), strings.Join(allowed, ", ")))
}

// paths are the handlers of this package, by path.
func (s *server) paths() map[string]methods {
	return map[string]methods{
		Path: {http.MethodPost: s.instrument},
		"/healthz": {http.MethodGet: func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, http.StatusOK, map[string]string{"status": "ok", "version": s.Version})
		}},
		"/style.css":   {http.MethodGet: s.serveStylesheet},
		"/icon.svg":    {http.MethodGet: serveFile("icon.svg")},
		"/favicon.ico": {http.MethodGet: serveFile("icon.svg")}, // browsers ask for it if a page names no icon
		signInPath:     {http.MethodGet: s.showSignIn, http.MethodPost: s.signIn},
		codesPath:      {http.MethodPost: s.makeCode},
		signOutPath:    {http.MethodPost: s.signOut},
	}
}

// mounted passes a request to the mount of its path, or to the pages. If the mount is not open, only operators pass.
func (s *server) mounted(w http.ResponseWriter, r *http.Request) {
	mount, found := findMount(s.Mounts, r.URL.Path)
	if !found && s.pages != nil {
		mount, found = Mount{Handler: s.pages, Policy: consolePolicy}, true
	}
	if !found {
		s.fail(w, r, fault.New(fault.NotFound))
		return
	}
	if mount.ReadOnly && !isRead(r) {
		s.methodNotAllowed(w, r, methods{http.MethodGet: nil})
		return
	}
	if !mount.Open {
		v, err := s.authenticateOperator(r)
		if err != nil {
			s.failPage(w, r, err)
			return
		}
		r = r.WithContext(viewer.With(r.Context(), v))
	}
	setPageHeaders(w, mount.Policy)
	mount.Handler.ServeHTTP(w, r)
}

type requestIDKey struct{}

// headers gives every answer its request id and its security headers.
func (s *server) headers(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := web.Headers(w.Header(), r)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestIDKey{}, id)))
	})
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}

// recover turns a panic into internal_error.
func (s *server) recover(next http.Handler) http.Handler {
	return web.Recover(next, func(w http.ResponseWriter, r *http.Request, cause any) {
		s.fail(w, r, s.recoverPanic(r.Context(), cause))
	})
}
