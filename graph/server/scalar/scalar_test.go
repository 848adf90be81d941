package scalar_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/ent"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
	"stoa/graph/server/scalar"
)

func written(m graphql.Marshaler) string {
	var b strings.Builder
	m.MarshalGQL(&b)
	return b.String()
}

// read unmarshals a value in the form in which a client sees it.
func read[T any](t require.TestingT, unmarshal func(any) (T, error), text string) T {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var sent any
	require.NoError(t, decoder.Decode(&sent))
	value, err := unmarshal(sent)
	require.NoError(t, err)
	return value
}

func TestValuesAreSpelledAsRESTSpellsThem(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		at := time.UnixMicro(rapid.Int64Range(0, 1<<52).Draw(t, "at")).UTC()
		number := rapid.Int64().Draw(t, "number")
		key := rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, "key")
		var id uuid.UUID
		copy(id[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "id"))
		text := rapid.String().Draw(t, "text")
		for value, m := range map[any]graphql.Marshaler{
			at: scalar.MarshalTime(at), number: scalar.MarshalInt64(number), id: scalar.MarshalUUID(id), text: scalar.MarshalText(text),
		} {
			rest, err := wire.Marshal(value)
			require.NoError(t, err)
			require.Equal(t, string(rest), written(m))
		}
		require.Equal(t, at, read(t, scalar.UnmarshalTime, written(scalar.MarshalTime(at))))
		require.Equal(t, number, read(t, scalar.UnmarshalInt64, written(scalar.MarshalInt64(number))))
		require.Equal(t, id, read(t, scalar.UnmarshalUUID, written(scalar.MarshalUUID(id))))
		require.Equal(t, key, read(t, scalar.UnmarshalBase64, written(scalar.MarshalBase64(key))))
		require.Equal(t, text, read(t, scalar.UnmarshalText, written(scalar.MarshalText(text))))
		cursor := ent.Cursor{ID: id, Value: []any{strings.ReplaceAll(text, "\x00", "")}}
		require.Equal(t, cursor, read(t, scalar.UnmarshalCursor, written(scalar.MarshalCursor(cursor))))
	})
}

func TestOtherSpellingsAreFaults(t *testing.T) {
	t.Parallel()
	refused := func(code fault.Code, err error) {
		t.Helper()
		require.Error(t, err)
		require.Equal(t, code, fault.From(err).Code)
		require.NotEmpty(t, fault.From(err).Text())
	}
	for _, sent := range []any{nil, 5, true, "", "019b0000abcd7000800000000000000f", "{019b0000-abcd-7000-8000-00000000000f}"} {
		_, err := scalar.UnmarshalUUID(sent)
		refused(fault.InvalidID, err)
	}
	for _, sent := range []any{nil, 5, "", "2026-11-21", "2026-11-21 02:03:04Z"} {
		_, err := scalar.UnmarshalTime(sent)
		refused(fault.InvalidInput, err)
	}
	for _, sent := range []any{nil, "5", 5.0, true, json.Number("5.0"), json.Number("1e2"), json.Number("9223372036854775808")} {
		_, err := scalar.UnmarshalInt64(sent)
		refused(fault.InvalidInput, err)
		_, err = scalar.UnmarshalInt(sent)
		refused(fault.InvalidInput, err)
	}
	_, err := scalar.UnmarshalInt(int64(1) << 31)
	refused(fault.InvalidInput, err)
	for _, sent := range []any{nil, 5, "AAA", "AB==", "AAAA\n"} {
		_, err := scalar.UnmarshalBase64(sent)
		refused(fault.InvalidInput, err)
	}
	for _, sent := range []any{nil, 5, []any{}, map[string]any{}} {
		_, err := scalar.UnmarshalText(sent)
		refused(fault.InvalidInput, err)
		_, err = scalar.UnmarshalCursor(sent)
		refused(fault.InvalidPagination, err)
	}
}
