package rest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
	"stoa/rest/mcp"
)

// toolsPath is the MCP endpoint (§4.11).
const toolsPath = "/mcp"

// callsAtOnce is how many calls of one agent a process carries out at once (§8).
const callsAtOnce = 4

// toolCalls serves the Model Context Protocol over the routes of api. A call needs a token like a request of /api/v1; there is no metadata
// of OAuth, since clients that find any drop a token they were given. A page of another origin is refused.
func (s *server) toolCalls(api http.Handler) http.Handler {
	origins := web.NewOrigins(s.Origin, s.AllowedOrigins)
	calls := atOnce{limit: callsAtOnce, running: make(map[uuid.UUID]int)}
	protocol := &mcp.Handler{
		New: func() (*sdk.Server, error) {
			description, err := OpenAPI(s.Origin)
			if err != nil {
				return nil, err
			}
			return mcp.NewServer(mcp.Options{Description: description, Name: ToolsName(s.Origin), Version: s.Version, API: localAPI{api}})
		},
		Fail: s.fail,
		Enter: func(r *http.Request) (leave func(), err error) {
			return calls.enter(requestOf(r.Context()).caller.BotID)
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origins.Foreign(r) {
			s.fail(w, r, fault.New(fault.Forbidden))
			return
		}
		caller, err := s.authenticate(r.Context(), r.Header, tokenRequired, false)
		if err == nil {
			err = web.RequireJSON(r.Header)
		}
		var body []byte
		if err == nil {
			body, err = web.ReadBody(w, r, mcp.MaxRequest)
		}
		if cutOff := new(wire.Error); err != nil && !errors.As(err, &cutOff) { // half a message is no JSON
			s.fail(w, r, err)
			return
		}
		requestOf(r.Context()).caller = caller
		protocol.ServeMessage(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, r)), body)
	})
}

// atOnce counts what agents do at the same time. It is safe for concurrent use.
type atOnce struct {
	limit   int
	mu      sync.Mutex
	running map[uuid.UUID]int
}

// enter counts one more of an agent until leave is called. It returns rate_limited if there are too many.
func (a *atOnce) enter(agent uuid.UUID) (leave func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running[agent] >= a.limit {
		return nil, fault.New(fault.RateLimited).After(time.Second)
	}
	a.running[agent]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.running[agent]--; a.running[agent] == 0 {
			delete(a.running, agent)
		}
	}, nil
}

// callerKey is the key in a context of the request with which a tool was called.
type callerKey struct{}

// localAPI sends requests to the routes of this process, as the caller of the tool, from the caller's address.
type localAPI struct{ routes http.Handler }

// Do implements mcp.API. Only what a route panics with is an error.
func (a localAPI) Do(ctx context.Context, method, target string, body []byte) (mcp.Answer, error) {
	caller, _ := ctx.Value(callerKey{}).(*http.Request)
	from := requestOf(caller.Context())
	// The request is given up with that of the tool; the protocol's own context goes on for as long as its session.
	request := &request{Context: context.WithValue(caller.Context(), chi.RouteCtxKey, chi.NewRouteContext()), id: from.id, address: from.address}
	r, err := http.NewRequestWithContext(request, method, target, bytes.NewReader(body))
	if err != nil {
		return mcp.Answer{}, err
	}
	r.RequestURI, r.RemoteAddr, r.Host = target, caller.RemoteAddr, caller.Host
	r.Header["Authorization"] = caller.Header["Authorization"]
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	w := &recordedAnswer{header: make(http.Header), status: http.StatusOK}
	a.routes.ServeHTTP(w, r)
	return mcp.Answer{Status: w.status, Header: w.header, Body: w.body.Bytes()}, nil
}

// recordedAnswer keeps an answer of a route.
type recordedAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *recordedAnswer) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *recordedAnswer) WriteHeader(status int) { w.status = status }

// Write implements http.ResponseWriter.
func (w *recordedAnswer) Write(p []byte) (int, error) { return w.body.Write(p) }
