package mcp

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// listed is the answer of a list of numbers to the arguments of a call, as /api/v1 answers.
func listed(length int, arguments object) object {
	page, size := intOr(arguments["page"], 1), intOr(arguments["page_size"], 20)
	records, next := []any{}, any(nil)
	for i := (page - 1) * size; i < min(page*size, length); i++ {
		records = append(records, json.Number(strconv.Itoa(i)))
	}
	if page*size < length {
		next = json.Number(strconv.Itoa(page + 1))
	}
	number := func(n int) json.Number { return json.Number(strconv.Itoa(n)) }
	return object{"posts": records, "page": number(page), "page_size": number(size), "next_page": next}
}

func intOr(value any, otherwise int) int {
	switch value := value.(type) {
	case int:
		return value
	case json.Number:
		return number(value)
	default:
		return otherwise
	}
}

// A client that follows next_page sees every record once and in order, wherever lists are cut, whether page_size is sent again, is the answer's
// or is left out.
func TestNextPageLeadsThroughAll(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		length, size := rapid.IntRange(0, 200).Draw(t, "length"), rapid.IntRange(1, 50).Draw(t, "size")
		send := rapid.SampledFrom([]string{"same", "answered", "none"}).Draw(t, "page_size")
		arguments, seen := object{"page_size": size}, 0
		if send == "none" {
			delete(arguments, "page_size")
		}
		for calls := 0; ; calls++ {
			require.LessOrEqual(t, calls, length)
			sized := splitPage(arguments)
			answer := listed(length, arguments)
			all := as[[]any](answer["posts"])
			fits := all
			if len(all) > 0 {
				fits = all[:rapid.IntRange(1, len(all)).Draw(t, "fits")]
			}
			p := pageOf(answer)
			require.Equal(t, paged{"posts", "next_page"}, p)
			p.cut(answer, fits, sized)
			for _, record := range as[[]any](answer["posts"]) {
				require.Equal(t, seen, number(record))
				seen++
			}
			raw, next := as[object](decode(encode(answer))), object{}
			if raw["next_page"] == nil {
				break
			}
			next["page"] = raw["next_page"]
			switch send {
			case "same":
				next["page_size"] = json.Number(strconv.Itoa(size))
			case "answered":
				next["page_size"] = raw["page_size"]
			}
			arguments = next
		}
		require.Equal(t, length, seen)
	})
}

// A result fits, whatever it is given as; what of a list is left out comes behind the last record that is there.
func TestShapeFits(t *testing.T) {
	t.Parallel()
	contact := object{"id": "01a20005-3279-7101-88e5-f352f236b427", "note": strings.Repeat(`"\`, 40<<10)}
	id := object{"type": "string", "format": "uuid"}
	b := &built{row: &tool{name: "x"}, forms: formsOf(new(description), object{"properties": object{
		"next_before": id, "contacts": object{"items": object{"properties": object{"id": id}}},
	}})}
	for _, asText := range []bool{false, true} {
		list := make([]any, 20)
		for i := range list {
			list[i] = contact
		}
		got, ok := b.shape(object{"contacts": list, "next_before": nil}, asText, false)
		require.True(t, ok)
		require.LessOrEqual(t, sizeOf(got.raw, asText), maxResult)
		whole := as[object](decode(got.raw))
		require.Less(t, len(as[[]any](whole["contacts"])), 20)
		require.Equal(t, contact["id"], whole["next_before"])

		got, ok = b.shape(object{"order": object{"reason": strings.Repeat("é", 1<<20)}}, asText, false)
		require.True(t, ok)
		require.LessOrEqual(t, sizeOf(got.raw, asText), maxResult)
		require.Contains(t, string(got.raw), "⟨1046576 more characters⟩")
		require.Contains(t, got.note, "cut")
	}
	_, ok := b.shape(object{"ids": make([]any, 1<<20)}, false, false)
	require.False(t, ok)
}
