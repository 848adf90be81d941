package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Message is a message of JSON-RPC from a client, in a form that every reader understands alike.
type Message struct {
	// ID is the id of a call as JSON; nil for a notification.
	ID json.RawMessage
	// Ignored says that the message is a notification that means nothing here.
	Ignored bool
	// Raw is the message, written anew: each member once.
	Raw []byte
}

// calls are the methods that this server has. The others of the protocol are for features that it does not declare.
var calls = toSet("initialize", "ping", "server/discover", "subscriptions/listen", "tools/call", "tools/list")

// notifications are those that the library takes.
var notifications = toSet(
	"notifications/cancelled", "notifications/initialized", "notifications/progress", "notifications/roots/list_changed",
)

func toSet(names ...string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// ReadMessage reads a message. version is the version of the protocol that its transport names, empty for none. The error is the
// answer to a message that is refused: -32700 if it is no JSON, -32600 if it is no request or a batch, -32022 if it names an unknown
// version, -32601 if the method does not exist, -32602 if its parameters are no object.
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
		return Message{}, protocolError(jsonrpc.CodeInvalidRequest, "id must be a string or an integer")
	}
	if string(read["jsonrpc"]) != `"2.0"` {
		return m, protocolError(jsonrpc.CodeInvalidRequest, `jsonrpc must be "2.0"`)
	}
	if read["method"] == nil && (read["result"] != nil || read["error"] != nil) {
		return Message{Ignored: true}, nil // an answer, and this server asks nothing
	}
	var method string
	if json.Unmarshal(read["method"], &method) != nil || method == "" {
		return m, protocolError(jsonrpc.CodeInvalidRequest, "method must be a string")
	}
	if fault := unknownVersion(version, read["params"]); fault != nil {
		return m, fault
	}
	if m.ID == nil {
		m.Ignored = strings.HasPrefix(method, "notifications/") && !notifications[method]
	} else if !calls[method] {
		return m, protocolError(jsonrpc.CodeMethodNotFound, fmt.Sprintf("there is no method %q", method))
	}
	if fault := badParameters(method, read["params"]); fault != nil {
		return m, fault
	}
	m.Raw = encode(read)
	return m, nil
}

// isID reports whether a value may be the id of a call.
func isID(raw json.RawMessage) bool {
	return raw[0] == '"' || isInteger(string(raw))
}

// unknownVersion refuses a version that is not supported, whichever way a message names it. In initialize it is a question instead.
func unknownVersion(header string, params json.RawMessage) *jsonrpc.Error {
	var named struct {
		Meta map[string]any `json:"_meta"` //nolint:tagliatelle // a name of the protocol
	}
	_ = json.Unmarshal(params, &named) // badParameters judges it
	supported := sdk.SupportedProtocolVersions()
	for _, version := range []string{header, as[string](named.Meta[sdk.MetaKeyProtocolVersion])} {
		if version != "" && !slices.Contains(supported, version) {
			fault := protocolError(sdk.CodeUnsupportedProtocolVersion, "unsupported protocol version")
			fault.Data = encode(sdk.UnsupportedProtocolVersionData{Supported: supported, Requested: version})
			return fault
		}
	}
	return nil
}

// badParameters refuses parameters that are no object, and those of initialize for which the library has no code.
func badParameters(method string, params json.RawMessage) *jsonrpc.Error {
	if params != nil && string(params) != "null" && params[0] != '{' {
		return protocolError(jsonrpc.CodeInvalidParams, "params must be an object")
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
	return &jsonrpc.Error{Code: code, Message: message}
}

// ErrorAnswer is the answer to a message that is refused; id is null if it has none.
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
