package wire_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
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

func FuzzCanonical(f *testing.F) {
	files, err := filepath.Glob("testdata/json_parsing/y_*.json")
	require.NoError(f, err)
	for _, file := range files {
		body, err := os.ReadFile(file)
		require.NoError(f, err)
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		checked := wire.Check(data)
		one, err := wire.Canonical(data)
		require.Equal(t, checked == nil, err == nil, "%v, %v", checked, err)
		if err != nil {
			requireKind(t, err, wire.Syntax)
			return
		}
		require.True(t, json.Valid(data), "strictness only ever refuses more")
		two, err := wire.Canonical(one)
		require.NoError(t, err)
		require.Equal(t, string(one), string(two))
	})
}
