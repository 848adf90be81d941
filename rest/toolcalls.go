package rest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
	"stoa/rest/mcp"
	"stoa/rest/npm"
)

// toolsPath is the MCP endpoint (§4.11).
const toolsPath = "/mcp"

// callsAtOnce is the number of calls of one agent that a process runs at the same time (§8).
const callsAtOnce = 4

// toolCalls serves the Model Context Protocol over the routes of api. A request with a token gets the tools of its agent; a
// request without a token gets the tools for getting one. There is no OAuth metadata, because clients that find it drop their
// token. A page of another origin is refused.
func (s *server) toolCalls(api http.Handler) http.Handler {
	origins := web.NewOrigins(s.Origin, s.AllowedOrigins)
	calls := atOnce{limit: callsAtOnce, running: make(map[string]int)}
	protocol := &mcp.Handler{
		New: func() (agents, guests *sdk.Server) {
			return mcp.NewServers(mcp.Options{
				Description: OpenAPI(s.Origin), Name: ToolsName(s.Origin), Version: s.Version, Origin: s.at(""),
				Package: s.at(clientsPath + npm.FileName()), API: localAPI{api},
			})
		},
		IsGuest: isGuest,
		Fail:    s.fail,
		Enter: func(r *http.Request) (leave func(), err error) {
			if isGuest(r) {
				return calls.enter(requestOf(r.Context()).address)
			}
			return calls.enter(requestOf(r.Context()).caller.BotID.String())
		},
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requestOf(r.Context()).accepted = web.JSONType
		if origins.Foreign(r) {
			s.fail(w, r, fault.New(fault.Forbidden))
			return
		}
		bounded, cancel := db.Bounded(r.Context(), db.RequestTimeout) // each request of the tool has its own bound
		caller, err := s.authenticate(bounded, r, route{token: tokenOptional, operation: operation{uncounted: true}})
		cancel()
		if err == nil {
			err = web.RequireJSON(r.Header)
		}
		var body []byte
		if err == nil {
			limit := int64(mcp.MaxRequest)
			if isGuest(r) {
				limit = mcp.MaxGuestRequest
			}
			body, err = web.ReadBody(w, r, limit)
		}
		if cutOff := new(wire.Error); err != nil && !errors.As(err, &cutOff) { // the protocol answers a cut-off message
			s.fail(w, r, err)
			return
		}
		asked := requestOf(r.Context())
		asked.caller, asked.authorization = caller, r.Header["Authorization"]
		protocol.ServeMessage(w, r, body)
	})
}

// isGuest reports whether a request has no token.
func isGuest(r *http.Request) bool { return len(r.Header.Values("Authorization")) == 0 }

// atOnce counts the calls of each caller that run at the same time. It is safe for concurrent use.
type atOnce struct {
	limit int
	mu    sync.Mutex
	// running has a count for each agent, by id, and each guest, by address.
	running map[string]int
}

// enter counts another call of a caller until leave is called. It returns rate_limited if there are too many.
func (a *atOnce) enter(caller string) (leave func(), err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.running[caller] >= a.limit {
		return nil, fault.New(fault.RateLimited).After(time.Second)
	}
	a.running[caller]++
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.running[caller]--; a.running[caller] == 0 {
			delete(a.running, caller)
		}
	}, nil
}

// localAPI sends requests to the routes of this process, as the caller of the tool, from the caller's address.
type localAPI struct{ routes http.Handler }

func (a localAPI) Do(ctx context.Context, wanted mcp.Request) (mcp.Answer, error) {
	from := requestOf(ctx)
	// The request ends with the caller's request; the protocol's own context lives as long as its session.
	request := &request{Context: context.WithValue(from, chi.RouteCtxKey, chi.NewRouteContext()), id: from.id, address: from.address}
	r, err := http.NewRequestWithContext(request, wanted.Method, wanted.Target, bytes.NewReader(wanted.Body))
	if err != nil {
		return mcp.Answer{}, err
	}
	r.RequestURI = wanted.Target
	if from.authorization != nil {
		r.Header["Authorization"] = from.authorization
	}
	if wanted.Body != nil {
		r.Header.Set("Content-Type", cmp.Or(wanted.ContentType, "application/json"))
	}
	w := web.Keep(http.Header{})
	a.routes.ServeHTTP(&recorder{ResponseWriter: w, limits: &request.limits}, r)
	return mcp.Answer{Status: w.Status, Header: w.Header(), Body: w.Body.Bytes()}, nil
}

func (a localAPI) Self(ctx context.Context) string {
	if id := requestOf(ctx).caller.BotID; id != uuid.Nil {
		return id.String()
	}
	return ""
}

func (a localAPI) RequestID(ctx context.Context) string { return requestOf(ctx).id }
