package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/platform/wire"
)

func TestCanonical(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		` { "b" : [ 1 , 2 ] , "a" : null } `:  `{"a":null,"b":[1,2]}`,
		`{"\u0061":"\u003c\/\ud83d\ude00"}`:   `{"a":"</😀"}`,
		`[1.0,1e2,100,-0,-0.0,1E-1]`:          `[1,100,100,0,0,0.1]`,
		`[9007199254740993,9007199254740992]`: `[9007199254740993,9007199254740992]`,
		`-9223372036854775808`:                `-9223372036854775808`,
		`{"a":{"d":1,"c":[{"f":1,"e":2}]}}`:   `{"a":{"c":[{"e":2,"f":1}],"d":1}}`,
	} {
		t.Run(body, func(t *testing.T) {
			t.Parallel()
			before := body
			got, err := wire.Canonical([]byte(body))
			require.NoError(t, err)
			require.Equal(t, want, string(got))
			require.Equal(t, before, body)
		})
	}
	for _, body := range []string{``, `{`, `{"a":1,"a":1}`, `"\ud800"`, "\ufeff{}", `{}{}`} {
		_, err := wire.Canonical([]byte(body))
		requireKind(t, err, wire.Syntax)
	}
}

func TestCanonicalLeavesItsInput(t *testing.T) {
	t.Parallel()
	in := []byte(`{"b":1, "a":2}`)
	_, err := wire.Canonical(in)
	require.NoError(t, err)
	require.Equal(t, `{"b":1, "a":2}`, string(in))
}

// Other spellings of a value (indented, escaped for HTML) have its canonical form; another integer has another.
func TestCanonicalFormsOfDifferentValuesDiffer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64().Draw(t, "a"), rapid.Int64().Draw(t, "b")
		name := rapid.String().Draw(t, "name")
		value := map[string]any{"n": a, "s": name, "list": []any{name, true, nil}}
		compact, err := wire.Marshal(value)
		require.NoError(t, err)
		indented, err := json.MarshalIndent(value, " ", "\t")
		require.NoError(t, err)
		one, err := wire.Canonical(compact)
		require.NoError(t, err)
		two, err := wire.Canonical(indented)
		require.NoError(t, err)
		require.Equal(t, string(one), string(two))
		value["n"] = b
		other, err := wire.Marshal(value)
		require.NoError(t, err)
		three, err := wire.Canonical(other)
		require.NoError(t, err)
		require.Equal(t, a == b, string(one) == string(three))
	})
}
