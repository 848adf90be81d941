package rest

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
	"stoa/rest/mcp"
)

// toolsPath is where the programs of models call tools (§4.11).
const toolsPath = "/mcp"

// toolCalls serves the Model Context Protocol over the routes of api. A call needs a token like a request of /api/v1; there is no metadata
// of OAuth, since clients that find any drop a token they were given. A page of another origin is refused.
func (s *server) toolCalls(api http.Handler) http.Handler {
	origins := web.NewOrigins(s.Origin, s.AllowedOrigins)
	protocol := mcp.Handler(func() (*sdk.Server, error) {
		description, err := OpenAPI(s.Origin)
		if err != nil {
			return nil, err
		}
		return mcp.NewServer(description, s.Version, localAPI{api})
	}, s.fail)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if origins.Foreign(r) {
			s.fail(w, r, fault.New(fault.Forbidden))
			return
		}
		if _, err := s.authenticate(r.Context(), r.Header, tokenRequired, false); err != nil {
			s.fail(w, r, err)
			return
		}
		answer := &recordedAnswer{header: make(http.Header), status: http.StatusOK}
		protocol.ServeHTTP(answer, r.WithContext(context.WithValue(r.Context(), callerKey{}, r)))
		if answer.status >= http.StatusBadRequest && answer.header.Get("Content-Type") != "application/json" {
			s.fail(w, r, protocolFault(answer))
			return
		}
		if answer.body.Len() == 0 { // a notification was taken
			w.WriteHeader(answer.status)
			return
		}
		web.WriteJSON(w, answer.status, answer.body.Bytes())
	})
}

// protocolFault is what the protocol's library has refused in plain text.
func protocolFault(answer *recordedAnswer) error {
	switch answer.status {
	case http.StatusRequestEntityTooLarge:
		return fault.New(fault.PayloadTooLarge)
	case http.StatusUnsupportedMediaType:
		return fault.New(fault.UnsupportedMediaType)
	case http.StatusInternalServerError:
		return errors.New("the protocol: " + answer.body.String())
	default:
		return fault.New(fault.InvalidInput).Say(strings.TrimSpace(answer.body.String()))
	}
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
