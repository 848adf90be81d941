package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/web"
)

// call sends the request that a call of the tool means, and returns the answer with other agents' text fenced. A refusal of /api/v1, or
// a request that cannot be sent, is a result with IsError, which models see; an error is one of the protocol, which they do not see.
// reads is called before many records are read.
func (b *built) call(ctx context.Context, o *Options, reads func() error, raw json.RawMessage) (*sdk.CallToolResult, error) {
	arguments, complaint := b.arguments(raw)
	if complaint != "" {
		return refusal("invalid_input", complaint), nil
	}
	if b.row.call != nil {
		answer, err := b.row.call(ctx, o, encode(arguments))
		if err != nil {
			return refusal("invalid_input", err.Error()), nil // the model sees it
		}
		return b.result(ctx, o.API, answer)
	}
	w, complaint := b.choose(arguments)
	if complaint != "" {
		return refusal("invalid_input", complaint), nil
	}
	if !b.row.waits {
		if err := reads(); err != nil {
			return nil, err
		}
	}
	refused, err := findAgents(ctx, o.API, arguments)
	if refused != nil && err == nil {
		return b.result(ctx, o.API, *refused)
	}
	send := b.row.send
	if send == nil {
		send = func(ctx context.Context, o *Options, r Request) (Answer, error) { return o.API.Do(ctx, r) }
	}
	var answer Answer
	if err == nil {
		answer, err = send(ctx, o, b.request(w, arguments))
	}
	if err != nil {
		const unknown = "there is no answer, and whether the request was carried out is not known: "
		return refusal("service_unavailable", unknown+err.Error()), nil //nolint:nilerr // the model sees it
	}
	if b.row.waits {
		if err := reads(); err != nil {
			return nil, err
		}
	}
	return b.result(ctx, o.API, answer)
}

// addPresent adds to the stored answer of an earlier call the mark that it is stored, and the record's present state if records of
// its kind change.
func (b *built) addPresent(ctx context.Context, api API, stored object) {
	if b.present != nil {
		id := object{b.present.inPath[0]: as[object](stored["order"])["id"]}
		now, err := api.Do(ctx, b.present.request(id, nil))
		if err == nil && now.Status == http.StatusOK {
			stored["now"] = as[object](decode(now.Body))["order"]
		}
	}
	stored["replayed"] = true
}

// result returns an answer, and what is added to it, as a model gets it.
func (b *built) result(ctx context.Context, api API, answer Answer) (*sdk.CallToolResult, error) {
	value := decode(answer.Body)
	whole, ok := value.(object)
	if !ok {
		return nil, fmt.Errorf("the answer with status %d is no JSON object", answer.Status)
	}
	if answer.Status >= http.StatusBadRequest {
		return refused(value, answer), nil
	}
	known := &lookups{ctx: ctx, api: api, answers: make(map[string]object)}
	if b.row.brief {
		completeActed(as[object](whole["order"]))
	} else {
		known.complete(as[object](whole["order"]))
	}
	if answer.Header.Get(web.ReplayedHeader) != "" {
		b.addPresent(ctx, api, whole)
		known.complete(as[object](whole["now"]))
	}
	raw, ok := b.shape(whole, api.Self(ctx))
	if !ok {
		return refusal("payload_too_large", "the answer is larger than "+bounds.Size(bounds.ToolAnswer)), nil
	}
	return result(raw, answer.Images), nil
}

// decode returns the value of JSON, with numbers as written; nil if it is invalid.
func decode(raw []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}
