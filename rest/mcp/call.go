package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
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

// maxResult is the size of a result in bytes, as it goes over the wire. With what the protocol puts around it, an answer has at most 1 MiB.
const maxResult = bounds.ToolAnswer - 8<<10

// shortenings are to how many characters the texts of an answer are cut, one after the other, until it fits; 0 cuts nothing.
var shortenings = []int{0, 2000, 400, 80}

// shape fences the texts of an answer, shows its records (see shower), and makes it fit. Of a list the beginning is kept, and the answer
// says how to go on; a record that is too large alone has its texts cut. ok says whether that was enough.
// self is the id of the calling agent.
func (b *built) shape(answer object, self string) (raw []byte, ok bool) {
	p, show := pageOf(answer), &shower{b.show.actions, self}
	for _, most := range shortenings {
		fence := newFence()
		enclose := func(known *forms, value any, most int) any {
			if b.row.own {
				return value
			}
			fence.most = most
			return fence.enclose(known, value)
		}
		// listed are the records of a list as cards.
		listed := func(list string, value any, known *forms) []any {
			return fitting(as[[]any](value), func(record any) any {
				return show.card(list, enclose(known.element(), record, cards[list].most(most)))
			})
		}
		whole := maps.Clone(answer)
		for name := range hiddenMembers {
			delete(whole, name)
		}
		complete := true
		for name, value := range whole {
			known := b.forms.member(name)
			_, isList := value.([]any)
			switch list := singular[name]; {
			case name == p.list:
				complete = p.cut(whole, listed(name, value, known))
			case isList && cards[name].keeps != nil:
				whole[name] = listed(name, value, known)
			case b.row.brief && list != "":
				short := enclose(known, value, cards[list].most(most))
				whole[name] = pickCard(show.record(name, short), list)
			default:
				whole[name] = show.record(name, enclose(known, value, most))
			}
		}
		if b.row.own { // its texts are the server's, and name requests
			whole = as[object](mapTexts(whole, b.show.actions.withoutPaths))
		}
		if raw = encode(whole); complete && sizeOf(raw) <= maxResult {
			return raw, true
		}
	}
	return nil, false
}

// pickCard is a record that was shown as one of a list, with its actions as calls of tools.
func pickCard(shown any, list string) any {
	if record, ok := shown.(object); ok {
		return pick(record, cards[list].keeps)
	}
	return shown
}

// fitting returns as many elements of a list as fit into a result, as JSON, and at least one.
func fitting(elements []any, enclose func(any) any) []any {
	const around = 4 << 10 // what stands beside the list
	kept, size := make([]any, 0, len(elements)), around
	for _, element := range elements {
		raw := encode(enclose(element))
		if size += sizeOf(raw) + 1; size > maxResult && len(kept) > 0 {
			break
		}
		kept = append(kept, json.RawMessage(raw))
	}
	return kept
}

// sizeOf is how long JSON is in a result, which holds it twice: as structured content, and within the string of its text.
func sizeOf(raw []byte) int {
	const escaped = 2 * (len(`\u003c`) - 1) // the library writes these three so, in both
	size := 2*len(raw) + bytes.Count(raw, []byte{'"'}) + bytes.Count(raw, []byte{'\\'})
	for _, html := range []byte("<>&") {
		size += escaped * bytes.Count(raw, []byte{html})
	}
	return size
}

// result is the answer of the protocol. Its text is the JSON of its structured content, since most clients show models only one of them.
func result(raw []byte, images []*sdk.ImageContent) *sdk.CallToolResult {
	made := &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: string(raw)}}, StructuredContent: json.RawMessage(raw),
	}
	for _, image := range images {
		made.Content = append(made.Content, image)
	}
	return made
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

// records is how many records the answer to a call may have, as far as that matters (recordsAtOnce).
func (b *built) records(arguments json.RawMessage) int64 {
	var asked struct {
		PageSize int64 `json:"page_size"`
		Limit    int64 `json:"limit"`
	}
	_ = json.Unmarshal(arguments, &asked) // what is wrong with them is found later
	return min(max(b.usual, asked.PageSize, asked.Limit), recordsAtOnce)
}

// paged is an answer with one list of several.
type paged struct {
	// list is the member with the records, empty if the answer is no such list; next the one that says where others are.
	list, next string
}

func pageOf(answer object) paged {
	for _, next := range []string{"next_page", "next_before", "more"} {
		if _, ok := answer[next]; !ok {
			continue
		}
		for name, value := range answer {
			if _, ok := value.([]any); ok {
				return paged{name, next}
			}
		}
	}
	return paged{}
}

// cut puts the records that fit into a list that had perhaps more, and reports whether the rest can be read. Pages hold cards, which always
// fit.
func (p paged) cut(answer object, fitting []any) (ok bool) {
	all := as[[]any](answer[p.list])
	if len(fitting) < len(all) {
		switch p.next {
		case "next_before":
			answer["next_before"] = as[object](all[len(fitting)-1])["id"]
		case "more":
			answer["more"] = true
		default:
			return false
		}
	}
	answer[p.list] = fitting
	return true
}
