package wire_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/wire"
)

func TestText(t *testing.T) {
	t.Parallel()
	var members map[string]wire.Raw
	require.NoError(t, wire.Unmarshal([]byte(`{"a": "x", "b": "\u00e9\n\"", "c": "", "d": 1, "e": null, "f": ["x"], "g": {}, "h": true}`), &members))
	for name, want := range map[string]string{"a": "x", "b": "é\n\"", "c": ""} {
		s, ok := wire.Text(members[name])
		require.True(t, ok, name)
		require.Equal(t, want, s)
	}
	for _, name := range []string{"d", "e", "f", "g", "h", "missing"} {
		_, ok := wire.Text(members[name])
		require.False(t, ok, name)
	}
}
