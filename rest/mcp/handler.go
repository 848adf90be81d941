package mcp

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/web"
)

// Headers of the protocol.
const (
	versionHeader = "Mcp-Protocol-Version"
	methodHeader  = "Mcp-Method"
	nameHeader    = "Mcp-Name"
)

// RequestHeaders are the headers that a client of the protocol sends besides Content-Type and Authorization.
var RequestHeaders = []string{versionHeader, methodHeader, nameHeader}

const (
	// MaxRequest is the largest request in bytes: the largest argument of a tool is a file in base64.
	MaxRequest = 1536 << 10
	// MaxGuestRequest is the largest request without a token, in bytes.
	MaxGuestRequest = 64 << 10
)

const jsonType = "application/json"

// statelessVersion is the first version without sessions, in which the status of HTTP follows the error.
const statelessVersion = "2026-07-28"

// Handler serves the protocol over HTTP: POST with a message, answered in JSON, without sessions. The server is made at the first request.
// The caller of ServeMessage checks who calls, from where, and how large the message is.
type Handler struct {
	// New makes the server for agents and the server for guests, who have no token.
	New func() (agents, guests *sdk.Server)
	// IsGuest reports whether a request has no token.
	IsGuest func(*http.Request) bool
	// Fail answers a request for which the protocol has no answer.
	Fail func(http.ResponseWriter, *http.Request, error)
	// Enter is called before a call is carried out. leave is called when its answer is written.
	Enter func(*http.Request) (leave func(), err error)

	once    sync.Once
	library http.Handler
}

// ServeMessage answers a request whose body was read.
func (h *Handler) ServeMessage(w http.ResponseWriter, r *http.Request, body []byte) {
	h.once.Do(func() {
		agents, guests := h.New()
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
	answer := web.Keep(http.Header{})
	h.library.ServeHTTP(answer, r)
	kind, text := answer.Header().Get("Content-Type"), strings.TrimSpace(answer.Body.String())
	switch {
	case answer.Status < http.StatusBadRequest || kind == jsonType:
		write(w, kind, answer.Status, answer.Body.Bytes())
	case answer.Status == http.StatusBadRequest: // the library's refusal is plain text
		writeJSON(w, answer.Status, ErrorAnswer(message.ID, protocolError(jsonrpc.CodeInvalidRequest, text)))
	default:
		h.Fail(w, r, errors.New("the protocol: "+text))
	}
}

// statusOf returns the HTTP status of an error. Earlier versions of the protocol have none for unknown methods.
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

// decodeName decodes the name in a header. Some names must be sent in base64, which the library does not decode.
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

// write answers with a body of a media type; without a type it sends no body.
func write(w http.ResponseWriter, kind string, status int, raw []byte) {
	if kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(status)
	_, _ = w.Write(raw) //nolint:gosec // it is JSON; a disconnected client needs no answer
}

// Message is a message of JSON-RPC from a client, in a form that every reader understands alike.
type Message struct {
	// ID is the id of a call as JSON; nil for a notification.
	ID json.RawMessage
	// Ignored is set for a notification that this server does not use.
	Ignored bool
	// Raw is the message encoded again, with each member once.
	Raw []byte
}

// calls lists the methods of this server. The protocol's other methods are for features that it does not declare.
var calls = []string{"initialize", "ping", "server/discover", "subscriptions/listen", "tools/call", "tools/list"}

// notifications lists the notifications that the library accepts.
var notifications = []string{
	"notifications/cancelled", "notifications/initialized", "notifications/progress", "notifications/roots/list_changed",
}

// ReadMessage reads a message. version is the protocol version that the transport names, empty for none. The error is the answer
// to a refused message: -32700 if it is not JSON, -32600 if it is not a request or a batch, -32022 if it names an unknown
// version, -32601 if the method does not exist, -32602 if its parameters are not an object.
func ReadMessage(raw []byte, version string) (Message, *jsonrpc.Error) {
	var members map[string]json.RawMessage
	raw = bytes.TrimSpace(raw)
	switch {
	case !json.Valid(raw):
		return Message{}, protocolError(jsonrpc.CodeParseError, "the message is no JSON")
	case raw[0] == '[':
		return Message{}, protocolError(jsonrpc.CodeInvalidRequest, "batches are not taken: send one message at a time")
	case json.Unmarshal(raw, &members) != nil || members == nil:
		return Message{}, protocolError(jsonrpc.CodeInvalidRequest, "the message is no object")
	}
	read := make(map[string]json.RawMessage)
	for _, name := range []string{"jsonrpc", "id", "method", "params", "result", "error"} {
		if value, ok := members[name]; ok {
			read[name] = value
		}
	}
	m := Message{ID: read["id"]}
	if m.ID != nil && !isID(m.ID) {
		return Message{}, protocolError(jsonrpc.CodeInvalidRequest, "id must be a string or an integer of at most "+bounds.Size(maxID))
	}
	if string(read["jsonrpc"]) != `"2.0"` {
		return m, protocolError(jsonrpc.CodeInvalidRequest, `jsonrpc must be "2.0"`)
	}
	if read["method"] == nil && (read["result"] != nil || read["error"] != nil) {
		return Message{Ignored: true}, nil // an answer, but this server sends no requests
	}
	var method string
	if json.Unmarshal(read["method"], &method) != nil || method == "" {
		return m, protocolError(jsonrpc.CodeInvalidRequest, "method must be a string")
	}
	if fault := unknownVersion(version, read["params"]); fault != nil {
		return m, fault
	}
	if m.ID == nil {
		m.Ignored = strings.HasPrefix(method, "notifications/") && !slices.Contains(notifications, method)
	} else if !slices.Contains(calls, method) {
		return m, protocolError(jsonrpc.CodeMethodNotFound, fmt.Sprintf("there is no method %q", method))
	}
	if fault := badParameters(method, read["params"]); fault != nil {
		return m, fault
	}
	m.Raw = encode(read)
	return m, nil
}

// maxID is the largest id of a call in bytes, which its answer repeats.
const maxID = 1 << 10

func isID(raw json.RawMessage) bool {
	return len(raw) <= maxID && (raw[0] == '"' || isInteger(string(raw)))
}

// unknownVersion refuses an unsupported version, wherever a message names it. In initialize the version is only a proposal.
func unknownVersion(header string, params json.RawMessage) *jsonrpc.Error {
	var named struct {
		Meta map[string]any `json:"_meta"` //nolint:tagliatelle // a name of the protocol
	}
	_ = json.Unmarshal(params, &named) // badParameters judges it
	supported := sdk.SupportedProtocolVersions()
	for _, version := range []string{header, as[string](named.Meta[sdk.MetaKeyProtocolVersion])} {
		if version != "" && !slices.Contains(supported, version) {
			fault := protocolError(sdk.CodeUnsupportedProtocolVersion, "unsupported protocol version")
			fault.Data = encode(sdk.UnsupportedProtocolVersionData{Supported: supported, Requested: shortened(version)})
			return fault
		}
	}
	return nil
}

// badParameters refuses parameters that are not an object, and parameters of initialize for which the library has no code.
func badParameters(method string, params json.RawMessage) *jsonrpc.Error {
	if params != nil && string(params) != "null" && params[0] != '{' {
		return protocolError(jsonrpc.CodeInvalidParams, "params must be an object")
	}
	if method == "tools/call" {
		var call struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(params, &call) == nil && len(call.Name) > maxComplaint { // the library repeats the name of an unknown tool
			return protocolError(jsonrpc.CodeInvalidParams, fmt.Sprintf("there is no tool %q", call.Name))
		}
	}
	if method != "initialize" {
		return nil
	}
	var initialize *sdk.InitializeParams
	if err := json.Unmarshal(params, &initialize); err != nil || initialize == nil {
		return protocolError(jsonrpc.CodeInvalidParams, "the parameters of initialize are missing or not as the protocol has them")
	}
	return nil
}

func protocolError(code int64, message string) *jsonrpc.Error {
	return &jsonrpc.Error{Code: code, Message: shortened(message)}
}

// maxComplaint is the most characters of a message about a request, which may repeat a part of the request.
const maxComplaint = 1000

func shortened(complaint string) string {
	if begin := []rune(complaint); len(begin) > maxComplaint {
		return string(begin[:maxComplaint]) + "…"
	}
	return complaint
}

// ErrorAnswer returns the answer to a refused message; id is null if the message has none.
func ErrorAnswer(id json.RawMessage, fault *jsonrpc.Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	return encode(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   *jsonrpc.Error  `json:"error"`
	}{"2.0", id, fault})
}
