package relay_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"
	"time"

	"entgo.io/ent/dialect"
	"entgo.io/ent/dialect/sql"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/ent/relay"
)

type cursor = relay.Cursor[uuid.UUID]

func written(c cursor) string {
	var out strings.Builder
	c.MarshalGQL(&out)
	return strings.Trim(out.String(), `"`)
}

func TestCursorsRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id, text, truth := uuid.New(), rapid.String().Draw(t, "text"), rapid.Bool().Draw(t, "truth")
		number, at := rapid.Int64Range(1<<32, 1<<62).Draw(t, "number"), time.UnixMicro(rapid.Int64Range(0, 1<<52).Draw(t, "time")).UTC()
		var read cursor
		require.NoError(t, read.UnmarshalGQL(written(cursor{id, []any{text, number, truth, at}})))
		values := []any{text, json.Number(strconv.FormatInt(number, 10)), truth, at.Format(time.RFC3339Nano)}
		require.Equal(t, cursor{id, values}, read, "numbers and times as texts")
	})
	var read cursor
	require.Error(t, read.UnmarshalGQL(5))
	require.Error(t, read.UnmarshalGQL("no cursor"))
}

func FuzzCursor(f *testing.F) {
	f.Add(written(cursor{ID: uuid.New(), Value: []any{"a", int64(5)}}))
	f.Fuzz(func(_ *testing.T, sent string) {
		var c cursor
		_ = c.UnmarshalGQL(sent) // whatever is sent, it ends
	})
}

// conditions returns the SQL of a table's rows behind and before a cursor.
func conditions(t *testing.T, after, before *cursor, of relay.MultiCursorsOptions) (string, []any) {
	t.Helper()
	selector := sql.Dialect(dialect.Postgres).Select("*").From(sql.Table("bots"))
	found, err := relay.MultiCursorsPredicate(after, before, &of)
	require.NoError(t, err)
	for _, condition := range found {
		condition(selector)
	}
	text, values := selector.Query()
	_, text, _ = strings.Cut(text, " WHERE ")
	return strings.ReplaceAll(strings.ReplaceAll(text, `"bots".`, ""), `"`, ""), values
}

func TestConditions(t *testing.T) {
	t.Parallel()
	id := uuid.New()
	byID := relay.MultiCursorsOptions{FieldID: "id", DirectionID: relay.OrderDirectionAsc}
	byNames := relay.MultiCursorsOptions{
		FieldID: "id", DirectionID: relay.OrderDirectionDesc,
		Fields: []string{"state", "handle"}, Directions: []relay.OrderDirection{relay.OrderDirectionAsc, relay.OrderDirectionDesc},
	}
	withID := relay.MultiCursorsOptions{
		FieldID: "id", DirectionID: relay.OrderDirectionAsc,
		Fields: []string{"id"}, Directions: []relay.OrderDirection{relay.OrderDirectionDesc},
	}
	for _, c := range []struct {
		after, before *cursor
		of            relay.MultiCursorsOptions
		text          string
		values        []any
	}{
		{nil, nil, byID, "", nil},
		{&cursor{ID: id}, nil, byID, "id > $1", []any{id}},
		{&cursor{ID: id}, &cursor{ID: id}, byID, "id > $1 AND id > $2", []any{id, id}},
		{&cursor{ID: id, Value: []any{id}}, nil, withID, "id < $1", []any{id}},
		{
			&cursor{ID: id, Value: []any{"active", "ada"}}, nil, byNames,
			"state > $1 OR (state = $2 AND (handle < $3 OR (handle = $4 AND id < $5)))", []any{"active", "active", "ada", "ada", id},
		},
	} {
		text, values := conditions(t, c.after, c.before, c.of)
		require.Equal(t, c.text, text)
		require.Equal(t, c.values, values)
	}
	for _, other := range []any{nil, []any{"active"}, []any{"active", "ada", "bea"}, "active"} {
		_, err := relay.MultiCursorsPredicate(&cursor{ID: id, Value: other}, nil, &byNames)
		require.ErrorContains(t, err, "another order")
	}
}

func TestDirections(t *testing.T) {
	t.Parallel()
	var d relay.OrderDirection
	for sent, valid := range map[any]bool{"ASC": true, "DESC": true, "asc": false, "": false, 5: false} {
		require.Equal(t, valid, d.UnmarshalGQL(sent) == nil, sent)
	}
	require.Equal(t, relay.OrderDirectionDesc, relay.OrderDirectionAsc.Reverse())
	require.Equal(t, relay.OrderDirectionAsc, relay.OrderDirectionDesc.Reverse())
}
