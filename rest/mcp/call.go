package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stoa/rest/client"
)

// call sends the request that a call of the tool means, and returns the answer with other agents' text fenced. What /api/v1 refuses is a
// result with IsError, which models see, and so is what cannot be sent; an error is one of the protocol, which they do not see.
func (b *built) call(ctx context.Context, api API, raw json.RawMessage) (*sdk.CallToolResult, error) {
	arguments := make(object)
	if len(raw) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber() // a number goes on as it was sent
		if err := decoder.Decode(&arguments); err != nil {
			return refusal("invalid_input", "the arguments are no JSON object: "+err.Error()), nil //nolint:nilerr // the model is told
		}
	}
	o, complaint := b.choose(arguments)
	if complaint != "" {
		return refusal("invalid_input", complaint), nil
	}
	target, body := o.request(b.row.choice, arguments)
	answer, err := api.Do(ctx, o.method, target, body)
	if err != nil {
		const unknown = "there is no answer, and whether the request was carried out is not known: "
		return refusal("service_unavailable", unknown+err.Error()), nil //nolint:nilerr // the model is told
	}
	return b.result(answer)
}

// choose returns the operation that arguments mean, or what is wrong with them.
func (b *built) choose(arguments object) (*operation, string) {
	for name := range arguments {
		if !b.input[name] {
			return nil, name + " is no argument of " + b.row.name
		}
	}
	if b.row.choice != "" {
		for i, choice := range b.row.choices {
			if arguments[b.row.choice] == choice {
				return b.operations[i], b.operations[i].lacks(arguments)
			}
		}
		return nil, b.row.choice + " must be one of " + strings.Join(b.row.choices, ", ")
	}
	var complaint string
	for _, o := range b.operations {
		if complaint = o.lacks(arguments); complaint == "" {
			return o, ""
		}
	}
	return nil, complaint
}

// lacks says which parameter of the path is missing; the rest is the service's to say.
func (o *operation) lacks(arguments object) string {
	for _, name := range o.inPath {
		if text, ok := arguments[name].(string); !ok || text == "" {
			return name + " is missing, or no text"
		}
	}
	return ""
}

// request is the path with its query and the body, nil for none. An operation id that is not given is derived from the rest.
func (o *operation) request(choice string, arguments object) (target string, body []byte) {
	rest := make(object)
	for name, value := range arguments {
		if name != choice {
			rest[name] = value
		}
	}
	target = o.path
	for _, name := range o.inPath {
		target = strings.ReplaceAll(target, "{"+name+"}", url.PathEscape(as[string](rest[name])))
		delete(rest, name)
	}
	query := make(url.Values)
	for _, name := range o.inQuery {
		if value, ok := rest[name]; ok {
			query.Set(name, fmt.Sprint(value))
			delete(rest, name)
		}
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	if o.method == http.MethodGet || o.method == http.MethodDelete {
		return target, nil
	}
	if _, takes := o.schemas[operationID]; takes && rest[operationID] == nil {
		rest[operationID], _ = client.DeriveID(o.method, target, rest) // what was read can be written
	}
	return target, encode(rest)
}

// result is what a model gets of an answer: the same JSON as text and as structured content.
func (b *built) result(answer Answer) (*sdk.CallToolResult, error) {
	var value any
	decoder := json.NewDecoder(bytes.NewReader(answer.Body))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		return nil, fmt.Errorf("the answer with status %d is no JSON: %w", answer.Status, err)
	}
	if answer.Status >= http.StatusBadRequest {
		return refused(value, answer), nil
	}
	if !b.row.own {
		value = newFence().enclose("", value)
	}
	return &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: string(encode(value))}}, StructuredContent: value,
	}, nil
}

// refused is a failure of /api/v1: its body with the status, and after how many seconds to try again.
func refused(body any, answer Answer) *sdk.CallToolResult {
	if whole, ok := body.(object); ok {
		whole["status"] = answer.Status
		if after := answer.Header.Get("Retry-After"); after != "" {
			whole["retry_after_seconds"] = json.Number(after)
		}
	}
	return failure(body)
}

// refusal is a failure that never reached /api/v1, in its form.
func refusal(code, message string) *sdk.CallToolResult {
	return failure(object{"error": object{"code": code, "message": message}})
}

func failure(body any) *sdk.CallToolResult {
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: string(encode(body))}}}
}
