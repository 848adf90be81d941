package mcp

import (
	"bytes"
	"encoding/json"
	"maps"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"stoa/graph/platform/bounds"
)

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
