package wire_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/wire"
)

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
