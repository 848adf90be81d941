package wire_test

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/platform/wire"
)

func TestMarshal(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 21, 2, 3, 4, 5999, time.UTC)
	east := at.In(time.FixedZone("", 3*3600))
	id := uuid.MustParse("019B0000-ABCD-7000-8000-00000000000F")
	type nested struct {
		ID uuid.UUID  `json:"id"`
		At *time.Time `json:"at"`
	}
	for name, c := range map[string]struct {
		in   any
		want string
	}{
		"time":              {at, `"2026-11-21T02:03:04.000005Z"`},
		"time in a zone":    {east, `"2026-11-21T02:03:04.000005Z"`},
		"whole second":      {at.Truncate(time.Second), `"2026-11-21T02:03:04.000000Z"`},
		"pointer to a time": {&east, `"2026-11-21T02:03:04.000005Z"`},
		"nil time":          {(*time.Time)(nil), `null`},
		"first year":        {time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), `"0000-01-01T00:00:00.000000Z"`},
		"uuid":              {id, `"019b0000-abcd-7000-8000-00000000000f"`},
		"nil uuid":          {(*uuid.UUID)(nil), `null`},
		"uuids":             {[]uuid.UUID{id}, `["019b0000-abcd-7000-8000-00000000000f"]`},
		"uuid as a name":    {map[uuid.UUID]int{id: 1}, `{"019b0000-abcd-7000-8000-00000000000f":1}`},
		"struct":            {nested{id, &at}, `{"id":"019b0000-abcd-7000-8000-00000000000f","at":"2026-11-21T02:03:04.000005Z"}`},
		"behind any": {
			map[string]any{"b": at, "a": []any{id, &at}},
			`{"a":["019b0000-abcd-7000-8000-00000000000f","2026-11-21T02:03:04.000005Z"],"b":"2026-11-21T02:03:04.000005Z"}`,
		},
		"nil slice":       {[]string(nil), `[]`},
		"nil map":         {map[string]int(nil), `{}`},
		"nil string":      {(*string)(nil), `null`},
		"bytes":           {[]byte{0xfb, 0xff}, `"+/8="`},
		"nil bytes":       {[]byte(nil), `null`},
		"empty bytes":     {[]byte{}, `""`},
		"no HTML escapes": {"<a href='x'>&\u2028", "\"<a href='x'>&\u2028\""},
		"big integer":     {int64(math.MaxInt64), `9223372036854775807`},
		"sorted names":    {map[string]int{"b": 1, "a": 2, "ä": 3, "B": 4}, `{"B":4,"a":2,"b":1,"ä":3}`},
		"unbinding":       {wire.Nullable[string]{Set: true, Null: true, Value: "x"}, `null`},
		"binding":         {wire.Nullable[string]{Set: true, Value: "x"}, `"x"`},
	} {
		got, err := wire.Marshal(c.in)
		require.NoError(t, err, name)
		require.Equal(t, c.want, string(got), name)
		var b bytes.Buffer
		require.NoError(t, wire.Write(&b, c.in), name)
		require.Equal(t, c.want, b.String(), name)
	}
}

func TestMarshalRefuses(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{
		"year 10000":    time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC),
		"year 10000 in": time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -2*3600)),
		"before year 0": time.Date(-1, 12, 31, 0, 0, 0, 0, time.UTC),
		"invalid UTF-8": "\xff",
		"NaN":           math.NaN(),
		"function":      func() {},
	} {
		_, err := wire.Marshal(v)
		require.Error(t, err, name)
		_, ours := errors.AsType[*wire.Error](err)
		require.False(t, ours, "%s: a defect of ours must not be blamed on the sender", name)
	}
}

func TestMarshalTimesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.Int64Range(-62167219200_000000, 253402300799_999999).Draw(t, "micros")
		zone := time.FixedZone("", 60*rapid.IntRange(-14*60, 14*60).Draw(t, "zone"))
		want := time.UnixMicro(micros)
		b, err := wire.Marshal(want.In(zone))
		require.NoError(t, err)
		require.Len(t, b, len(`"2026-11-21T02:03:04.000005Z"`))
		var got struct{ At time.Time }
		require.NoError(t, wire.Unmarshal([]byte(`{"At":`+string(b)+`}`), &got))
		require.True(t, want.Equal(got.At))
	})
}

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

func TestNullableOfGraphQL(t *testing.T) {
	t.Parallel()
	var n wire.Nullable[string]
	require.NoError(t, n.UnmarshalGQL("a"))
	require.Equal(t, wire.Nullable[string]{Set: true, Value: "a"}, n)
	require.NoError(t, n.UnmarshalGQL(nil))
	require.Equal(t, wire.Nullable[string]{Set: true, Null: true}, n)
	for _, sent := range []any{5, true, []any{"a"}, map[string]any{}} {
		require.Equal(t, "the value must be a string or null", requireKind(t, n.UnmarshalGQL(sent), wire.Type).Reason)
	}
	for want, n := range map[string]wire.Nullable[string]{`null`: {Set: true, Null: true}, `"a<"`: {Set: true, Value: "a<"}} {
		var b strings.Builder
		n.MarshalGQL(&b)
		require.Equal(t, want, b.String())
	}
}
