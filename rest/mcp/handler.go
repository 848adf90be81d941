package mcp

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Headers of the protocol.
const (
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
)

// RequestHeaders are those that a client of the protocol sends, beside Content-Type and Authorization.
var RequestHeaders = []string{versionHeader, methodHeader, nameHeader}

const (
	// MaxRequest is the size of a request in bytes: the arguments of a tool are at most a file in base64.
	MaxRequest = 1536 << 10
	// MaxGuestRequest is that of a request without a token.
	MaxGuestRequest = 64 << 10
)

const jsonType = "application/json"

// statelessVersion is the first version without sessions, in which the status of HTTP follows the error.
const statelessVersion = "2026-07-28"

// Handler serves the protocol over HTTP: POST with a message, answered in JSON, without sessions. The server is made at the first request.
// The caller of ServeMessage checks who calls, from where, and how large the message is.
type Handler struct {
	// New makes the server of agents and that of guests, who have no token.
	New func() (agents, guests *sdk.Server, err error)
	// IsGuest reports whether a request has no token.
	IsGuest func(*http.Request) bool
	// Fail answers a request that no answer of the protocol fits.
	Fail func(http.ResponseWriter, *http.Request, error)
	// Enter is called before a call is carried out. leave is called when its answer is written.
	Enter func(*http.Request) (leave func(), err error)

	once    sync.Once
	library http.Handler
	err     error
}

// ServeMessage answers a request whose body was read.
func (h *Handler) ServeMessage(w http.ResponseWriter, r *http.Request, body []byte) {
	h.once.Do(func() {
		agents, guests, err := h.New()
		h.err = err
		h.library = sdk.NewStreamableHTTPHandler(func(r *http.Request) *sdk.Server {
			if h.IsGuest(r) {
				return guests
			}
			return agents
		}, &sdk.StreamableHTTPOptions{
			Stateless: true, JSONResponse: true, PropagateRequestCancellation: true,
			DisableLocalhostProtection: true, // behind a proxy on the same machine every request has a foreign Host
		})
	})
	if h.err != nil {
		h.Fail(w, r, h.err)
		return
	}
	version := r.Header.Get(versionHeader)
	message, refused := ReadMessage(body, version)
	if refused != nil {
		writeJSON(w, statusOf(refused.Code, version), ErrorAnswer(message.ID, refused))
		return
	}
	if message.Ignored {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if message.ID != nil {
		leave, err := h.Enter(r)
		if err != nil {
			h.Fail(w, r, err)
			return
		}
		defer leave()
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(message.Raw)), int64(len(message.Raw))
	if name := r.Header.Get(nameHeader); name != "" {
		r.Header.Set(nameHeader, decodeName(name))
	}
	answer := NewRecorder()
	h.library.ServeHTTP(answer, r)
	kind, text := answer.Header().Get("Content-Type"), strings.TrimSpace(answer.Body.String())
	switch {
	case answer.Status < http.StatusBadRequest || kind == jsonType:
		write(w, kind, answer.Status, answer.Body.Bytes())
	case answer.Status == http.StatusBadRequest: // the library refuses in plain text
		writeJSON(w, answer.Status, ErrorAnswer(message.ID, protocolError(jsonrpc.CodeInvalidRequest, text)))
	default:
		h.Fail(w, r, errors.New("the protocol: "+text))
	}
}

// statusOf is the status of HTTP for an error. Earlier versions of the protocol have none for unknown methods.
func statusOf(code int64, version string) int {
	switch {
	case code != jsonrpc.CodeMethodNotFound:
		return http.StatusBadRequest
	case version >= statelessVersion:
		return http.StatusNotFound
	default:
		return http.StatusOK
	}
}

// decodeName is the name in a header. Names that need it come in base64, which the library does not decode.
func decodeName(header string) string {
	encoded, begins := strings.CutPrefix(header, "=?base64?")
	encoded, ends := strings.CutSuffix(encoded, "?=")
	name, err := base64.StdEncoding.DecodeString(encoded)
	if !begins || !ends || err != nil {
		return header
	}
	return string(name)
}

func writeJSON(w http.ResponseWriter, status int, raw []byte) { write(w, jsonType, status, raw) }

// write answers with a body of a type; without a type there is none.
func write(w http.ResponseWriter, kind string, status int, raw []byte) {
	if kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	_, _ = w.Write(raw) //nolint:gosec // it is JSON; a client that has gone away needs no answer
}

// Recorder keeps an answer.
type Recorder struct {
	Status int
	Body   bytes.Buffer
	header http.Header
}

// NewRecorder returns a recorder of an answer that has the status 200 unless it says another.
func NewRecorder() *Recorder { return &Recorder{Status: http.StatusOK, header: make(http.Header)} }

// Header implements http.ResponseWriter.
func (r *Recorder) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *Recorder) WriteHeader(status int) { r.Status = status }

// Write implements http.ResponseWriter.
func (r *Recorder) Write(p []byte) (int, error) { return r.Body.Write(p) }
