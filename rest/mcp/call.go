package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/semaphore"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/web"
)

// call sends the request for a call of the tool, and returns the answer with other agents' text fenced. If /api/v1 refuses it or
// it cannot be sent, the result has IsError, and models see it; models do not see the error, which is one of the protocol. turn
// limits how many records are read at once.
func (b *built) call(ctx context.Context, o *Options, turn *semaphore.Weighted, raw json.RawMessage) (*sdk.CallToolResult, error) {
	arguments, complaint := b.arguments(raw)
	var w *builtWay
	if complaint == "" && b.row.call == nil {
		w, complaint = b.choose(arguments)
	}
	if complaint != "" {
		return o.refusal(ctx, "invalid_input", complaint), nil
	}
	known := &lookups{ctx: ctx, api: o.API, answers: make(map[string]object)}
	if b.row.call != nil {
		answer, err := b.row.call(ctx, o, encode(arguments))
		if err != nil {
			return o.refusal(ctx, "invalid_input", err.Error()), nil // the model sees it
		}
		return b.result(known, o, answer)
	}
	records := b.records(raw)
	if !b.row.waits {
		if err := turn.Acquire(ctx, records); err != nil {
			return nil, err
		}
		defer turn.Release(records)
	}
	answer, err := known.findAgents(arguments)
	if err == nil && answer == nil {
		answer = new(Answer)
		*answer, err = o.API.Do(ctx, b.request(w, arguments))
	}
	if err != nil {
		const unknown = "there is no answer, and whether the request was carried out is not known: "
		return o.refusal(ctx, "service_unavailable", unknown+err.Error()), nil // the model sees it
	}
	if b.row.waits {
		if err := turn.Acquire(ctx, records); err != nil {
			return nil, err
		}
		defer turn.Release(records)
	}
	return b.result(known, o, *answer)
}

// addPresent marks the stored answer of an earlier call as stored, and adds the record's current state if such records change.
func (b *built) addPresent(known *lookups, stored object) {
	if b.row.brief {
		id := as[string](as[object](stored["order"])["id"])
		if now := known.read("/orders/" + url.PathEscape(id)); now != nil {
			stored["now"] = now["order"]
		}
	}
	stored["replayed"] = true
}

// result returns an answer, with its additions, as a model gets it.
func (b *built) result(known *lookups, o *Options, answer Answer) (*sdk.CallToolResult, error) {
	ctx := known.ctx
	whole, ok := decode(answer.Body).(object)
	if !ok {
		return nil, fmt.Errorf("the answer with status %d is no JSON object", answer.Status)
	}
	if answer.Status >= http.StatusBadRequest {
		whole["status"] = answer.Status
		if after := answer.Header.Get("Retry-After"); after != "" {
			whole["retry_after_seconds"] = json.Number(after)
		}
		fields := as[object](as[object](whole["error"])["fields"])
		for argument, parameter := range b.row.named {
			if reason, found := fields[parameter]; found {
				delete(fields, parameter)
				fields[argument] = reason
			}
		}
		return o.failure(ctx, whole), nil
	}
	if b.row.amend != nil {
		b.row.amend(o, known, whole)
	}
	switch order := as[object](whole["order"]); {
	case !b.row.brief:
		known.complete(order)
	case order["state"] == "closed": // the action has just closed it
		order["rated"] = false
	}
	if answer.Header.Get(web.ReplayedHeader) != "" {
		b.addPresent(known, whole)
		known.complete(as[object](whole["now"]))
	}
	raw, ok := b.shape(whole, o.API.Self(ctx))
	if !ok {
		return o.refusal(ctx, "payload_too_large", "the answer is larger than "+bounds.Size(bounds.ToolAnswer)), nil
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

// maxResult is the largest result in bytes on the wire. With the envelope of the protocol, an answer has at most 1 MiB.
const maxResult = bounds.ToolAnswer - 8<<10

// shortenings lists the lengths in characters to which texts are cut, tried in turn until the answer fits; 0 cuts nothing.
var shortenings = []int{0, 2000, 400, 80}

// advice lists the members of an onboarding whose texts, the server's own, name requests.
var advice = []string{"guide", "recommendations"}

// shape fences the texts of an answer, shows its records (see shower), and makes it fit. If a list is too long, its beginning is
// kept with a cursor to the rest. If one record is too large, its texts are cut. ok reports whether the answer fits. self is the
// id of the calling agent.
func (b *built) shape(answer object, self string) (raw []byte, ok bool) {
	page, next := pageOf(answer)
	show := &shower{b.show.actions, self}
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
		for _, name := range hiddenMembers {
			delete(whole, name)
		}
		complete := true
		for name, value := range whole {
			known := b.forms.member(name)
			if name == "now" { // the same record
				known = b.forms.member("order")
			}
			_, isList := value.([]any)
			switch list := singular[name]; {
			case name == page:
				complete = cut(whole, page, next, listed(name, value, known))
			case isList && cards[name].keeps != nil:
				whole[name] = listed(name, value, known)
			case b.row.brief && list != "":
				short := enclose(known, value, cards[list].most(most))
				whole[name] = pickCard(show.record(name, short), list)
			default:
				whole[name] = show.record(name, enclose(known, value, most))
			}
		}
		for _, name := range advice {
			if texts, ok := whole[name]; ok && b.row.own {
				whole[name] = mapTexts(texts, b.show.actions.withoutPaths)
			}
		}
		if raw = encode(whole); complete && sizeOf(raw) <= maxResult {
			return raw, true
		}
	}
	return nil, false
}

// pickCard returns a shown record as a list shows it, with its actions as calls of tools.
func pickCard(shown any, list string) any {
	if record, ok := shown.(object); ok && cards[list].keeps != nil {
		return pick(record, cards[list].keeps)
	}
	return shown
}

// fitting returns the elements of a list that fit into a result, as JSON, and at least one.
func fitting(elements []any, enclose func(any) any) []any {
	const around = 4 << 10 // the rest of the answer
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

// sizeOf returns the size of JSON in a result, which has it twice: as structured content, and as a string in its text.
func sizeOf(raw []byte) int {
	const escaped = 2 * (len(`\u003c`) - 1) // the library escapes these three in both
	size := 2*len(raw) + bytes.Count(raw, []byte{'"'}) + bytes.Count(raw, []byte{'\\'})
	for _, html := range []byte("<>&") {
		size += escaped * bytes.Count(raw, []byte{html})
	}
	return size
}

// result returns the result of the protocol. Its text is the JSON of its structured content, since most clients show models only
// one of the two.
func result(raw []byte, images []*sdk.ImageContent) *sdk.CallToolResult {
	made := &sdk.CallToolResult{
		Content: []sdk.Content{&sdk.TextContent{Text: string(raw)}}, StructuredContent: json.RawMessage(raw),
	}
	for _, image := range images {
		made.Content = append(made.Content, image)
	}
	return made
}

// refusal returns a failure that happened before /api/v1, in the form of that API.
func (o *Options) refusal(ctx context.Context, code, message string) *sdk.CallToolResult {
	return o.failure(ctx, object{"error": object{"code": code, "message": message}})
}

// failure returns a result with the request id, with which operators can find the request.
func (o *Options) failure(ctx context.Context, body object) *sdk.CallToolResult {
	body["request_id"] = o.API.RequestID(ctx)
	if refused := as[object](body["error"]); refused != nil {
		refused["message"] = shortened(as[string](refused["message"]))
	}
	return &sdk.CallToolResult{IsError: true, Content: []sdk.Content{&sdk.TextContent{Text: string(encode(body))}}}
}

// records returns the most records of the answer to a call, limited to recordsAtOnce.
func (b *built) records(arguments json.RawMessage) int64 {
	var asked struct {
		PageSize int64 `json:"page_size"`
		Limit    int64 `json:"limit"`
	}
	_ = json.Unmarshal(arguments, &asked) // invalid arguments are refused later
	return min(max(b.usual, asked.PageSize, asked.Limit), recordsAtOnce)
}

// pageOf returns the member of an answer with the records of a page and the member with its cursor; both are empty if the answer
// is no page of a list.
func pageOf(answer object) (list, next string) {
	for _, next := range []string{"next_page", "next_before", "more"} {
		if _, ok := answer[next]; ok {
			for name, value := range answer {
				if _, ok := value.([]any); ok {
					return name, next
				}
			}
		}
	}
	return "", ""
}

// cut replaces a list by the records that fit, and reports whether the rest can be read. Pages have cards, which always fit.
func cut(answer object, list, next string, fitting []any) (ok bool) {
	all := as[[]any](answer[list])
	answer[list] = fitting
	switch {
	case len(fitting) == len(all):
	case next == "next_before":
		answer[next] = as[object](all[len(fitting)-1])["id"]
	case next == "more":
		answer[next] = true
	default:
		return false
	}
	return true
}
