package mcp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every message is refused with a code or passed on as one object with the same members.
func FuzzReadMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[]`, `{}`, ``, `{"id":1,"id":2,"jsonrpc":"2.0","method":"ping"}`, "null", `{"method":"x`,
		`{"jsonrpc":"2.0","ID":1,"method":"ping"}`, `{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"x"}}`,
	} {
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, raw, version string) {
		message, refused := ReadMessage([]byte(raw), version)
		if refused != nil {
			require.Contains(t, []int64{-32700, -32600, -32601, -32602, -32022}, refused.Code)
			require.True(t, json.Valid(ErrorAnswer(message.ID, refused)))
			return
		}
		if !message.Ignored {
			again, refused := ReadMessage(message.Raw, version)
			require.Nil(t, refused)
			require.JSONEq(t, string(message.Raw), string(again.Raw))
			require.Equal(t, string(message.ID), string(again.ID))
		}
	})
}

// A result fits; the omitted records of a list follow the last record in it.
func TestShapeFits(t *testing.T) {
	t.Parallel()
	response := object{"id": "01a20005-3279-7101-88e5-f352f236b427", "text": strings.Repeat(`"\`, 40<<10)}
	id := object{"type": "string", "format": "uuid"}
	b := &built{row: &tool{name: "x"}, show: &shower{actions: new(actions)}, forms: formsOf(new(description), object{"properties": object{
		"next_before": id, "responses": object{"items": object{"properties": object{"id": id}}},
	}})}
	list := make([]any, 20)
	for i := range list {
		list[i] = response
	}
	raw, ok := b.shape(object{"responses": list, "next_before": nil}, "")
	require.True(t, ok)
	require.LessOrEqual(t, sizeOf(raw), maxResult)
	whole := as[object](decode(raw))
	require.Less(t, len(as[[]any](whole["responses"])), 20)
	require.Equal(t, response["id"], whole["next_before"])

	raw, ok = b.shape(object{"order": object{"reason": strings.Repeat("é", 1<<20)}}, "")
	require.True(t, ok)
	require.LessOrEqual(t, sizeOf(raw), maxResult)
	require.Contains(t, string(raw), "⟨1046576 more characters⟩")
	_, ok = b.shape(object{"ids": make([]any, 1<<20)}, "")
	require.False(t, ok)
}
