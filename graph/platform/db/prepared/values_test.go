package prepared_test

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// columns are the types that travel, one column c_<n> each.
var columns = []string{
	"smallint", "int", "bigint", "real", "double precision", "numeric(20,4)",
	"text", "varchar(40)", "char(8)", "bytea", "boolean", "uuid", "json", "jsonb",
	"timestamptz", "timestamp", "date", "time", "interval", "inet",
	"int[]", "bigint[]", "text[]", "bytea[]", "uuid[]", "boolean[]", "double precision[]",
}

// named has a kind that only reflection finds.
type named string

// valued is a driver.Valuer as ent's field types are.
type valued struct{ v any }

func (v valued) Value() (driver.Value, error) { return v.v, nil }

func values() *rapid.Generator[any] {
	id := rapid.Custom(func(t *rapid.T) uuid.UUID {
		return uuid.UUID(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "uuid"))
	})
	text := rapid.StringN(0, 12, 40)
	at := rapid.Custom(func(t *rapid.T) time.Time {
		zone := time.FixedZone("", rapid.IntRange(-14*60, 14*60).Draw(t, "zone")*60)
		return time.UnixMicro(rapid.Int64Range(-1e16, 1e16).Draw(t, "µs")).In(zone)
	})
	document := rapid.Custom(func(t *rapid.T) json.RawMessage {
		b, err := json.Marshal(rapid.MapOfN(text, rapid.Int(), 0, 3).Draw(t, "document"))
		require.NoError(t, err)
		return b
	})
	return rapid.OneOf(
		rapid.Just[any](nil),
		rapid.Int().AsAny(), rapid.Int16().AsAny(), rapid.Int64().AsAny(), rapid.Uint64().AsAny(),
		rapid.Float64().AsAny(), rapid.Bool().AsAny(), text.AsAny(),
		rapid.Map(text, func(s string) named { return named(s) }).AsAny(),
		rapid.Map(text, func(s string) *string { return &s }).AsAny(),
		rapid.Just[any]((*string)(nil)), rapid.Just[any]([]byte(nil)),
		rapid.Map(text, func(s string) []byte { return []byte(s) }).AsAny(),
		rapid.SliceOfN(rapid.Byte(), 0, 20).AsAny(),
		id.AsAny(),
		rapid.Map(id, func(id uuid.UUID) string { return id.String() }).AsAny(),
		rapid.Map(id, func(id uuid.UUID) uuid.NullUUID { return uuid.NullUUID{UUID: id, Valid: id[0]%2 == 0} }).AsAny(),
		at.AsAny(),
		rapid.Map(at, func(at time.Time) sql.NullTime { return sql.NullTime{Time: at, Valid: at.Unix()%2 == 0} }).AsAny(),
		document.AsAny(),
		rapid.Map(document, func(d json.RawMessage) []byte { return d }).AsAny(),
		rapid.Map(document, func(d json.RawMessage) string { return string(d) }).AsAny(),
		rapid.Map(document, func(d json.RawMessage) valued { return valued{string(d)} }).AsAny(),
		rapid.Map(rapid.SliceOfN(rapid.Int64(), 0, 4), func(a []int64) any { return pq.Array(a) }),
		rapid.SliceOfN(rapid.Int64(), 0, 4).AsAny(),
		rapid.SliceOfN(text, 0, 4).AsAny(),
		rapid.Map(rapid.SliceOfN(text, 0, 4), func(a []string) any { return pq.Array(a) }),
		rapid.Map(rapid.SliceOfN(id, 0, 3), func(a []uuid.UUID) any { return pq.Array(a) }),
		rapid.Map(rapid.SliceOfN(text, 0, 3), func(a []string) any {
			var b pq.ByteaArray
			for _, s := range a {
				b = append(b, []byte(s))
			}
			return b
		}),
		rapid.Map(rapid.SliceOfN(rapid.Float64(), 0, 3), func(a []float64) any { return pq.Array(a) }),
		rapid.SampledFrom([]any{
			"12.5", "-1", "t", "2024-02-29", "12:34:56.789", "3 days 04:05:06", "10.0.0.0/8", "{1,2,NULL}",
			`\x00ff`, "infinity", "NaN", math.Inf(1), "a\x00b", "\xff", valued{nil}, valued{[]byte("{}")}, struct{}{},
		}),
	)
}

// answer is everything a caller can learn from a query.
type answer struct {
	Columns []string
	Types   []string
	Rows    [][]any
	Err     string
}

func ask(t *rapid.T, on *sql.DB, query string, args ...any) (a answer) {
	rows, err := on.Query(query, args...)
	if err != nil {
		return answer{Err: err.Error()}
	}
	defer func() { require.NoError(t, rows.Close()) }()
	a.Columns, err = rows.Columns()
	require.NoError(t, err)
	types, err := rows.ColumnTypes()
	require.NoError(t, err)
	for _, c := range types {
		length, variable := c.Length()
		precision, scale, decimal := c.DecimalSize()
		a.Types = append(a.Types, fmt.Sprint(c.DatabaseTypeName(), c.ScanType(), length, variable, precision, scale, decimal))
	}
	for rows.Next() {
		row := make([]any, len(a.Columns))
		into := make([]any, len(a.Columns))
		for i := range row {
			into[i] = &row[i]
		}
		require.NoError(t, rows.Scan(into...))
		a.Rows = append(a.Rows, plainly(row))
	}
	if err := rows.Err(); err != nil {
		a.Err = err.Error()
	}
	return a
}

// plainly writes values with their types, so that NaN equals itself.
func plainly(row []any) []any {
	for i, v := range row {
		row[i] = fmt.Sprintf("%T %#[1]v", v)
	}
	return row
}

// Arguments and results, NULLs and refusals included, are the same as with plain lib/pq, at a statement's first use and later.
func TestValuesEqualPlainLibPQ(t *testing.T) {
	t.Parallel()
	w := setup(t)
	db := w.open(t, 1)
	var defs []string
	for n, typ := range columns {
		defs = append(defs, fmt.Sprintf("c_%d %s", n, typ))
	}
	must(t, w.plain, "CREATE TABLE t ("+strings.Join(defs, ", ")+")")
	gen := values()

	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, len(columns)-1).Draw(t, "column")
		v := gen.Draw(t, "value")
		for _, query := range []string{
			fmt.Sprintf("INSERT INTO t (c_%d) VALUES ($1) RETURNING c_%[1]d, c_%[1]d IS NULL AS empty", n),
			fmt.Sprintf("SELECT $1::%s AS v, $1::%[1]s::text AS s", columns[n]),
		} {
			want := ask(t, w.plain, query, v)
			require.Equal(t, want, ask(t, db, query, v), query)
			require.Equal(t, want, ask(t, db, query, v), "again: "+query)
		}
	})
}

func TestExecEqualsPlainLibPQ(t *testing.T) {
	t.Parallel()
	w := setup(t)
	db := w.open(t, 1)
	must(t, w.plain, "CREATE TABLE t (n int PRIMARY KEY CHECK (n < 100))")

	for _, c := range []struct {
		query string
		args  []any
	}{
		{"INSERT INTO t SELECT generate_series(1, $1)", []any{9}},
		{"INSERT INTO t VALUES ($1)", []any{1}},
		{"INSERT INTO t VALUES ($1)", []any{100}},
		{"INSERT INTO t VALUES ($1)", []any{1, 2}},
		{"INSERT INTO t VALUES ($1, $2)", []any{1, 2}},
		{"INSERT INTO t VALUES ($1)", []any{make(chan int)}},
		{"UPDATE t SET n = n + $1", []any{10}},
		{"UPDATE t SET n = n / ($1 - n)", []any{3}},
		{"SELECT n FROM t WHERE n < $1", []any{5}},
		{"DELETE FROM t WHERE n > $1", []any{4}},
		{"SELECT 1; SELECT $1::int", []any{4}},
		{"LISTEN x", []any{4}},
		{"", []any{4}},
		{"", nil},
		{"CREATE TABLE u (); DROP TABLE u", nil},
	} {
		want := outcome(t, w.plain, c.query, c.args)
		for range 3 {
			require.Equal(t, want, outcome(t, db, c.query, c.args), "%s %v", c.query, c.args)
		}
	}
}

// outcome runs query and takes it back.
func outcome(t *testing.T, on *sql.DB, query string, args []any) string {
	t.Helper()
	tx, err := on.BeginTx(t.Context(), nil)
	require.NoError(t, err)
	defer func() { require.NoError(t, tx.Rollback()) }()
	res, err := tx.ExecContext(t.Context(), query, args...)
	if err != nil {
		return err.Error()
	}
	n, err := res.RowsAffected()
	return fmt.Sprint(n, err)
}
