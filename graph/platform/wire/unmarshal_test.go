package wire_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/platform/wire"
)

// input has a field of every kind that the domains use.
type input struct {
	Title   string                `json:"title,omitzero"`
	Public  bool                  `json:"public,omitzero"`
	Amount  int64                 `json:"amount_minor,omitzero"`
	Files   []string              `json:"attachment_ids,omitzero"`
	Text    *string               `json:"text,omitzero"`
	Rights  *bool                 `json:"rights_confirmed,omitzero"`
	Total   *int64                `json:"total,omitzero"`
	Results *[]string             `json:"results,omitzero"`
	Avatar  wire.Nullable[string] `json:"avatar,omitzero"`
	Inner   struct {
		X int64 `json:"x"`
	} `json:"inner,omitzero"`
	Raw wire.Raw `json:"raw,omitzero"`
}

// sent is a field that was sent.
func sent[T any](value T) *T { return &value }

func requireKind(t require.TestingT, err error, kind wire.Kind) *wire.Error {
	bad, ok := errors.AsType[*wire.Error](err)
	require.True(t, ok, "%T %v", err, err)
	require.Equal(t, kind, bad.Kind, "%v", bad)
	require.NotEmpty(t, bad.Reason)
	require.True(t, utf8.ValidString(bad.Reason), "%q", bad.Reason)
	require.True(t, utf8.ValidString(bad.Field), "%q", bad.Field)
	require.LessOrEqual(t, len(bad.Field), 100+len("…"))
	return bad
}

func TestUnmarshalAccepts(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]input{
		`{}`:                                    {},
		" \t\r\n{ } \n":                         {},
		`{"title":"a\ud83d\ude00\u0000"}`:       {Title: "a😀\x00"},
		`{"\u0074itle":"null"}`:                 {Title: "null"},
		`{"amount_minor":9223372036854775807}`:  {Amount: 9223372036854775807},
		`{"amount_minor":-9223372036854775808}`: {Amount: -9223372036854775808},
		`{"amount_minor":-0}`:                   {},
		`{"attachment_ids":[]}`:                 {Files: []string{}},
		`{"text":""}`:                           {Text: new(string)},
		`{"rights_confirmed":false}`:            {Rights: new(bool)},
		`{"total":0}`:                           {Total: new(int64)},
		`{"results":[],"text":"null"}`:          {Results: &[]string{}, Text: sent("null")},
		`{"avatar":null}`:                       {Avatar: wire.Nullable[string]{Set: true, Null: true}},
		`{"avatar":"a"}`:                        {Avatar: wire.Nullable[string]{Set: true, Value: "a"}},
		`{"inner":{"x":1}}`: {Inner: struct {
			X int64 `json:"x"`
		}{1}},
		`{"raw":null}`:         {Raw: wire.Raw(`null`)},
		`{"raw":[null,1E400]}`: {Raw: wire.Raw(`[null,1E400]`)},
	} {
		var got input
		require.NoError(t, wire.Unmarshal([]byte(body), &got), body)
		require.Equal(t, want, got, body)
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	t.Parallel()
	const noInteger = "must be an integer without fraction or exponent; got "
	const noField = "is not a field of this request; the fields here are title, public, amount_minor, attachment_ids, text, " +
		"rights_confirmed, total, results, avatar, inner, raw"
	for _, c := range []struct {
		body   string
		kind   wire.Kind
		field  string
		reason string
	}{
		{"", wire.Syntax, "", "the body ends before its JSON is complete"},
		{"\ufeff{}", wire.Syntax, "", "the body must not begin with a byte order mark"},
		{`{"title":`, wire.Syntax, "title", "ends before its JSON is complete"},
		{`{"title":"a","title":"a"}`, wire.Syntax, "title", "appears twice in one object"},
		{`{"title":"a","\u0074itle":"a"}`, wire.Syntax, "title", "appears twice in one object"},
		{`{"raw":{"a":[{"b":1,"b":2}]}}`, wire.Syntax, "raw.a[0].b", "appears twice in one object"},
		{`{1:2}`, wire.Syntax, "", "the body must have string names only"},
		{`{} x`, wire.Syntax, "", "the body is not valid JSON at byte 3: invalid character 'x' after top-level value"},
		{`{}{}`, wire.Syntax, "", "the body is not valid JSON at byte 2: invalid character '{' after top-level value"},
		{"{\"title\":\"\xff\"}", wire.Syntax, "title", "is not valid JSON at byte 10: invalid UTF-8"},
		{`{"title":"\ud800"}`, wire.Syntax, "title", ""},
		{`{"\udc00":1}`, wire.Syntax, "", ""},
		{"{\"title\":\"a\nb\"}", wire.Syntax, "title", ""},
		{`{"raw":` + strings.Repeat("[", 10_001), wire.Syntax, "raw" + strings.Repeat("[0]", 32) + "[…", ""},
		{`{"title":5,"text":}`, wire.Syntax, "text", ""},
		{`{"colour":5} 7`, wire.Syntax, "", ""},

		{`null`, wire.NotObject, "", "the body must be a JSON object; got null"},
		{` [{}]`, wire.NotObject, "", "the body must be a JSON object; got a list"},
		{`"{}"`, wire.NotObject, "", "the body must be a JSON object; got a string"},
		{`-1`, wire.NotObject, "", "the body must be a JSON object; got a number"},
		{`true`, wire.NotObject, "", "the body must be a JSON object; got true"},

		{`{"colour":1}`, wire.Unknown, "colour", noField},
		{`{"Title":"a"}`, wire.Unknown, "Title", noField},
		{`{"":null}`, wire.Unknown, `""`, noField},
		{`{"7":1}`, wire.Unknown, "7", noField},
		{`{"inner":{"y":1}}`, wire.Unknown, "inner.y", "is not a field of this request; the fields here are x"},
		{`{"` + strings.Repeat("ü", 99) + `":1}`, wire.Unknown, strings.Repeat("ü", 50) + "…", ""},
		{`{"x` + strings.Repeat("ü", 99) + `":1}`, wire.Unknown, "x" + strings.Repeat("ü", 49) + "…", ""},

		{`{"title":null}`, wire.Type, "title", "must be a string; got null"},
		{`{"title":5}`, wire.Type, "title", "must be a string; got a number"},
		{`{"public":null}`, wire.Type, "public", "must be true or false; got null"},
		{`{"amount_minor":null}`, wire.Type, "amount_minor", noInteger + "null"},
		{`{"amount_minor":1.0}`, wire.Type, "amount_minor", noInteger + "a number"},
		{`{"amount_minor":1e2}`, wire.Type, "amount_minor", noInteger + "a number"},
		{`{"amount_minor":"1"}`, wire.Type, "amount_minor", noInteger + "a string"},
		{`{"amount_minor":true}`, wire.Type, "amount_minor", noInteger + "true"},
		{`{"amount_minor":9223372036854775808}`, wire.Type, "amount_minor", "is out of range"},
		{`{"amount_minor":-9223372036854775809}`, wire.Type, "amount_minor", "is out of range"},
		{`{"amount_minor":` + strings.Repeat("9", 9999) + `}`, wire.Type, "amount_minor", "is out of range"},
		{`{"attachment_ids":null}`, wire.Type, "attachment_ids", "must be a list; got null"},
		{`{"attachment_ids":{}}`, wire.Type, "attachment_ids", "must be a list; got an object"},
		{`{"attachment_ids":["a","b",5]}`, wire.Type, "attachment_ids[2]", "must be a string; got a number"},
		{`{"attachment_ids":["a",null]}`, wire.Type, "attachment_ids[1]", "must be a string; got null"},
		{`{"text":null}`, wire.Type, "text", "must be a string; got null"},
		{`{"rights_confirmed":null}`, wire.Type, "rights_confirmed", "must be true or false; got null"},
		{`{"total":null}`, wire.Type, "total", noInteger + "null"},
		{`{"results":null}`, wire.Type, "results", "must be a list; got null"},
		{`{"results":[null]}`, wire.Type, "results[0]", "must be a string; got null"},
		{`{"avatar":false}`, wire.Type, "avatar", "must be a string; got false"},
		{`{"inner":null}`, wire.Type, "inner", "must be an object; got null"},
		{`{"inner":{"x":null}}`, wire.Type, "inner.x", noInteger + "null"},
		{`{"inner":[]}`, wire.Type, "inner", "must be an object; got a list"},
	} {
		t.Run(c.body[:min(len(c.body), 60)], func(t *testing.T) {
			t.Parallel()
			var in input
			bad := requireKind(t, wire.Unmarshal([]byte(c.body), &in), c.kind)
			require.Equal(t, c.field, bad.Field)
			if c.reason != "" {
				require.Equal(t, c.reason, bad.Reason)
			}
			require.Contains(t, bad.Error(), bad.Reason)
		})
	}
}

func TestUnmarshalIntoMap(t *testing.T) {
	t.Parallel()
	body := []byte(`{"a":null,"b":[null,1],"c":"null"}`)
	var raw map[string]wire.Raw
	require.NoError(t, wire.Unmarshal(body, &raw))
	require.Equal(t, map[string]wire.Raw{"a": wire.Raw(`null`), "b": wire.Raw(`[null,1]`), "c": wire.Raw(`"null"`)}, raw)
	var free map[string]any
	require.NoError(t, wire.Unmarshal(body, &free))
	require.Equal(t, map[string]any{"a": nil, "b": []any{nil, 1.0}, "c": "null"}, free)
	var texts map[string]string
	require.Equal(t, "a", requireKind(t, wire.Unmarshal(body, &texts), wire.Type).Field)
}

func TestUnmarshalInvertsMarshal(t *testing.T) {
	t.Parallel()
	text := rapid.String()
	rapid.Check(t, func(t *rapid.T) {
		want := input{
			Title:  text.Draw(t, "title"),
			Public: rapid.Bool().Draw(t, "public"),
			Amount: rapid.Int64().Draw(t, "amount"),
			Files:  rapid.SliceOf(text).Draw(t, "files"),
		}
		if rapid.Bool().Draw(t, "sent") {
			want.Text = sent(text.Draw(t, "text"))
			want.Total = sent(rapid.Int64().Draw(t, "total"))
			want.Avatar = wire.Nullable[string]{Set: true, Null: true}
		}
		b, err := wire.Marshal(want)
		require.NoError(t, err)
		var got input
		require.NoError(t, wire.Unmarshal(b, &got))
		require.Equal(t, want, got)
	})
}

func FuzzUnmarshal(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"title":"a","amount_minor":1,"attachment_ids":["x"],"avatar":null}`, `{"title":null}`, `{"x":1}`,
		`{"raw":{"a":[null,1e9]},"text":"n","total":-0}`, `{"amount_minor":1.0}`, `[{}]`, `{"text":"\ud800"}`,
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
		require.NoError(t, err)
		var again input
		require.NoError(t, wire.Unmarshal(out, &again), "%s", out)
		same, err := wire.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(out), string(same))
	})
}

// chosen holds our verdict for files whose prefix leaves it to the parser, and for files with duplicate names, for which the
// contract is stricter than RFC 8259.
var chosen = map[string]bool{
	"y_object_duplicated_key.json":           false,
	"y_object_duplicated_key_and_value.json": false,

	"i_number_double_huge_neg_exp.json":       true,
	"i_number_huge_exp.json":                  true,
	"i_number_neg_int_huge_exp.json":          true,
	"i_number_pos_double_huge_exp.json":       true,
	"i_number_real_neg_overflow.json":         true,
	"i_number_real_pos_overflow.json":         true,
	"i_number_real_underflow.json":            true,
	"i_number_too_big_neg_int.json":           true,
	"i_number_too_big_pos_int.json":           true,
	"i_number_very_big_negative_int.json":     true,
	"i_structure_500_nested_arrays.json":      true,
	"i_structure_UTF-8_BOM_empty_object.json": false,
}

// accepted is the verdict for a file: from chosen, or else by its prefix. Every other i_ file holds broken Unicode.
func accepted(name string) bool {
	if ours, ok := chosen[name]; ok {
		return ours
	}
	return strings.HasPrefix(name, "y_")
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/json_parsing/*.json")
	require.NoError(t, err)
	require.Len(t, files, 316)
	bodies := map[string][]byte{
		"n_structure_100000_opening_arrays.json": []byte(strings.Repeat(`[`, 100_000)),
		"n_structure_open_array_object.json":     []byte(strings.Repeat(`[{"":`, 50_000) + "\n"),
	}
	for _, f := range files {
		bodies[filepath.Base(f)], err = os.ReadFile(f)
		require.NoError(t, err)
	}
	for name := range chosen {
		require.Contains(t, bodies, name)
	}
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := wire.Check(body)
			var members map[string]wire.Raw
			whole := wire.Unmarshal(body, &members)
			if !accepted(name) {
				requireKind(t, err, wire.Syntax)
				requireKind(t, whole, wire.Syntax)
				return
			}
			require.NoError(t, err)
			if jsontext.Value(body).Kind() != '{' {
				requireKind(t, whole, wire.NotObject)
				return
			}
			require.NoError(t, whole)
		})
	}
}
