package mcp

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever comes in, it is refused with a code or goes on as one object with the same members.
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
