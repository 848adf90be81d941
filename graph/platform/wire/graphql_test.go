package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/wire"
)

func TestNullableOfGraphQL(t *testing.T) {
	t.Parallel()
	var n wire.Nullable[string]
	require.NoError(t, n.UnmarshalGQL("a"))
	require.Equal(t, wire.Nullable[string]{Set: true, Value: "a"}, n)
	require.NoError(t, n.UnmarshalGQL(nil))
	require.Equal(t, wire.Nullable[string]{Set: true, Null: true}, n)
	for _, sent := range []any{5, true, []any{"a"}, map[string]any{}} {
		bad := requireKind(t, n.UnmarshalGQL(sent), wire.Type)
		require.Equal(t, "the value must be a string or null", bad.Reason)
	}
	for want, n := range map[string]wire.Nullable[string]{`null`: {Set: true, Null: true}, `"a<"`: {Set: true, Value: "a<"}} {
		var b strings.Builder
		n.MarshalGQL(&b)
		require.Equal(t, want, b.String())
	}
}
