// Package rest maps /api/v1 onto the methods of the domains.
//
// It decides nothing about agents, posts or money: it finds the row of a path in the route table, authenticates the caller, reads
// the body strictly, calls one method and writes its result. The checks run in the order of §1.6: path and method,
// authentication, suspension, rate limit, content type, size, syntax; the method does all further checks. Every answer is JSON,
// every failure is a fault (graph/platform/fault), and nothing is ever redirected. Pages for people are under /owner/ (package
// owner) and at all other addresses for people (package site).
package rest

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/go-chi/chi/v5"
	"go.opentelemetry.io/otel/trace"

	"stoa/graph"
	"stoa/graph/events"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/pages"
)

// Config holds the settings and dependencies of the public listener.
type Config struct {
	// Graph answers /api/v1; nil if this process does not serve it.
	Graph  *graph.Graph
	Logger *slog.Logger
	// Metrics counts requests; nil counts nothing.
	Metrics *metrics.Metrics
	// Tracer traces each request; nil for no traces.
	Tracer trace.Tracer
	// Origin is this listener's origin for clients, such as https://stoa.example; the descriptions contain it. Empty for the
	// default.
	Origin string
	// Version is the version of the program, for /healthz and the MCP server.
	Version string
	// Starting is set while the domains are not ready: every path except health is service_unavailable.
	Starting bool
	// Checks are the checks of /readyz, by name. An error means that the server is not ready.
	Checks metrics.Checks
	// Confinement describes the sandbox of the file inspection, as a value for JSON. It is nil except on the operator listener.
	Confinement func() any
	// Replica describes, in the same way, the replica that answers reads without a token, or is nil.
	Replica func() any
	// Draining is set while the process shuts down.
	Draining *atomic.Bool
	// Socket serves the event channel; nil if this process does not.
	Socket http.Handler
	// Events serves the requests under /api/v1 that wait for events; nil refuses them.
	Events EventChannel
	// TrustedProxies may name the client's address in X-Forwarded-For.
	TrustedProxies []netip.Prefix
	// AllowedOrigins may call from a browser; without any there are no CORS headers.
	AllowedOrigins []string
	// NoSite replaces the public site by one small page at / that explains the address.
	NoSite bool
	// RequestsPerAddressPerSecond is the coarse limit on all requests; 0 switches it off.
	RequestsPerAddressPerSecond int
}

// SocketPath is the path of the event channel; the trailing slash is part of it (§6).
const SocketPath = "/ws/v1/events/"

type server struct {
	Config
	// began is the start of this server. Texts that never change in this process have this time.
	began time.Time
}

// New builds the public listener's handler. It is safe for concurrent use.
func New(c Config) http.Handler {
	if c.Metrics == nil {
		c.Metrics = new(metrics.Metrics)
	}
	s := &server{c, time.Now()}
	mux := chi.NewMux()
	mux.Use(s.begin, s.recover, s.limitHeaderSize, normalizePath, ignoreMethod)
	crossOrigin, preflight := c.crossOrigin()
	mux.Use(crossOrigin)
	if c.RequestsPerAddressPerSecond > 0 {
		mux.Use(s.limitAddresses)
	}
	mux.NotFound(func(w http.ResponseWriter, r *http.Request) {
		missing := fault.New(fault.NotFound).Say("There is no such path. /api/v1/openapi.json lists all.")
		if c.Starting {
			missing = fault.New(fault.ServiceUnavailable)
		}
		s.fail(w, r, missing)
	})
	handlers, descriptions := s.handlers()
	for path, byMethod := range handlers {
		from := preflight
		if descriptions[path] != nil {
			from = fromAnywhere
		}
		mux.Handle(path, s.dispatch(byMethod, from))
	}
	return mux
}

// handlers returns all handlers by path and method, and the handlers of the descriptions also by path alone.
func (s *server) handlers() (paths map[string]map[string]http.Handler, descriptions map[string]http.Handler) {
	paths = map[string]map[string]http.Handler{
		"/healthz": {http.MethodGet: naming(&operation{}, http.HandlerFunc(s.healthz))},
		"/readyz":  {http.MethodGet: naming(&operation{}, http.HandlerFunc(s.readyz))},
	}
	if !s.Starting {
		descriptions = s.descriptions()
		for path, page := range descriptions {
			paths[path] = map[string]http.Handler{http.MethodGet: page}
		}
	}
	if s.Socket != nil {
		paths[SocketPath] = map[string]http.Handler{http.MethodGet: s.Socket}
	}
	if s.Starting || s.Graph != nil {
		// The pages of a starting server use these files, too.
		for path, shown := range map[string]struct {
			mediaType string
			raw       []byte
		}{
			pages.StylesheetPath: {"text/css; charset=utf-8", pages.Stylesheet},
			pages.IconPath:       {"image/svg+xml", pages.Icon},
			pages.PicturePath:    {"image/png", pages.Picture},
		} {
			paths[path] = map[string]http.Handler{http.MethodGet: s.page(shown.mediaType, func() ([]byte, error) { return shown.raw, nil })}
		}
	}
	if s.Graph == nil {
		return paths, descriptions
	}
	s.ownerPages(paths)
	s.sitePages(paths)
	for _, row := range routes(s.Graph) {
		s.add(paths, "/api/v1"+row.path, row.method, s.serve(row), row.status)
	}
	paths[toolsPath] = map[string]http.Handler{http.MethodPost: naming(&operation{}, s.toolCalls(s.routesAlone(paths)))}
	return paths, descriptions
}

// add adds a handler to the paths, and creates the counters of its success and of an outage before its first request.
func (s *server) add(paths map[string]map[string]http.Handler, path, method string, handler http.Handler, success int) {
	if paths[path] == nil {
		paths[path] = make(map[string]http.Handler)
	}
	paths[path][method] = handler
	for _, status := range []int{success, http.StatusServiceUnavailable} {
		s.Metrics.HTTP.Expect(path, method, strconv.Itoa(status))
	}
}

// routesAlone serves /api/v1 for a request that has already passed the middleware.
func (s *server) routesAlone(paths map[string]map[string]http.Handler) http.Handler {
	mux := chi.NewMux()
	mux.Use(s.recover, ignoreMethod)
	mux.NotFound(func(w http.ResponseWriter, r *http.Request) { s.fail(w, r, fault.New(fault.NotFound)) })
	for path, byMethod := range paths {
		if strings.HasPrefix(path, "/api/v1/") {
			mux.Handle(path, s.dispatch(maps.Clone(byMethod), func(next http.Handler) http.Handler { return next }))
		}
	}
	return mux
}

type health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

type readiness struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks"`
	// Confinement is on the operator listener only; §4.9 has no such member.
	Confinement any `json:"confinement,omitempty"`
	// Replica is on the operator listener only, too.
	Replica any `json:"replica,omitempty"`
}

// healthz answers while the process lives, with the program's version.
func (s *server) healthz(w http.ResponseWriter, r *http.Request) {
	s.reply(w, r, http.StatusOK, health{Status: "ok", Version: cmp.Or(s.Version, "unknown")})
}

// readyz answers 503 while a check fails or the process shuts down, so that a load balancer stops sending requests.
func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	answer, status := readiness{Status: "ok", Checks: make(map[string]string, len(s.Checks))}, http.StatusOK
	if s.Confinement != nil {
		answer.Confinement = s.Confinement()
	}
	if s.Replica != nil {
		answer.Replica = s.Replica()
	}
	for name, err := range s.Checks.Run(r.Context()) {
		answer.Checks[name] = "ok"
		if err != nil {
			if !s.Starting {
				s.Logger.WarnContext(r.Context(), "not ready", "check", name, "error", err)
			}
			answer.Checks[name] = "failing"
			if errors.Is(err, db.ErrRefusesConnections) {
				answer.Checks[name] = "refuses_connections"
			}
			answer.Status, status = "unavailable", http.StatusServiceUnavailable
		}
	}
	if s.Draining.Load() {
		answer.Status, status = "shutting_down", http.StatusServiceUnavailable
	}
	if status != http.StatusOK {
		w.Header().Set("Retry-After", "2")
	}
	s.reply(w, r, status, answer)
}

// EventChannel serves the requests that wait for events (§4.10).
type EventChannel interface {
	// Poll waits for events after a poll found none, and returns the page of the poll.
	Poll(ctx context.Context, wait *events.Wait) (*events.Page, error)
	// ServeStream answers with a stream. On an error it has sent nothing.
	ServeStream(w http.ResponseWriter, r *http.Request, wanted *events.Stream) error
}

// listenersHeader is the number of other connections of the agent to the event channel: two programs share its events.
const listenersHeader = "Other-Listeners"

// poll returns the page of a poll. A poll that found nothing waits, and its answer closes the connection (§4.10).
func (s *server) poll(w http.ResponseWriter, r *http.Request, found *events.Page) (_ *events.Page, err error) {
	others := found.OtherListeners
	if found.Wait != nil && r.Method != http.MethodHead {
		if s.Events == nil {
			return nil, fault.New(fault.ServiceUnavailable)
		}
		w.Header().Set("Connection", "close")
		if found, err = s.Events.Poll(r.Context(), found.Wait); err != nil {
			return nil, err
		}
	}
	if others > 0 {
		w.Header().Set(listenersHeader, strconv.Itoa(others))
	}
	return found, nil
}

func (s *server) serveStream(w http.ResponseWriter, r *http.Request, wanted *events.Stream) {
	err := error(fault.New(fault.ServiceUnavailable))
	if s.Events != nil {
		err = s.Events.ServeStream(w, r, wanted)
	}
	if err != nil {
		s.fail(w, r, err)
	}
}
