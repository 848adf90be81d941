package wire_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/wire"
)

func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"title":"a","amount_minor":1,"attachment_ids":["x"],"avatar":null}`, `{"title":null}`, `{"x":1}`,
		`{"raw":{"a":[null,1e9]},"text":"n","total":-0}`, `{"amount_minor":1.0}`, `[{}]`, `{"peer":"{}"}`, `{"text":"\ud800"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var in input
		if err := wire.Unmarshal(data, &in); err != nil {
			bad, ok := errors.AsType[*wire.Error](err)
			require.True(t, ok, "%T %v", err, err)
			requireKind(t, err, bad.Kind)
			return
		}
		require.NoError(t, wire.Check(data))
		out, err := wire.Marshal(in)
		if err != nil {
			return // a time whose UTC year has five digits or a sign
		}
		var again input
		require.NoError(t, wire.Unmarshal(out, &again), "%s", out)
		same, err := wire.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(out), string(same))
	})
}
