package prepared_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db/prepared"
)

func TestStatementIsPreparedOnceAConnection(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	const add, show = "INSERT INTO t VALUES ($1) ON CONFLICT DO NOTHING", "SELECT n FROM t WHERE n = $1"
	must(t, db, "CREATE TABLE t (n int PRIMARY KEY)")

	for n := range 7 {
		must(t, db, add, n)
		require.Equal(t, n, one[int](t, db, show, n))
	}

	require.Equal(t, map[string]int{add: 7, show: 7}, kept(t, db))
}

func TestWhichStatementsAreKept(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	must(t, db, `CREATE TABLE t (n int);
		CREATE PROCEDURE p(n int) LANGUAGE sql AS 'INSERT INTO t VALUES (n)'`)

	for _, c := range []struct {
		query string
		args  []any
		kept  bool
	}{
		{"SELECT $1::int", []any{1}, true},
		{"select $1::int", []any{1}, true},
		{"SELECT 1", nil, false},
		{"-- name: Get :one\nSELECT $1::int", []any{1}, true},
		{"/* first */ -- second\n\t/* third */ SELECT $1::int", []any{1}, true},
		{"WITH x AS (SELECT $1::int) TABLE x", []any{1}, true},
		{"VALUES ($1::int)", []any{1}, true},
		{"INSERT INTO t VALUES ($1)", []any{1}, true},
		{"UPDATE t SET n = $1", []any{1}, true},
		{"DELETE FROM t WHERE n = $1", []any{1}, true},
		{"MERGE INTO t USING (SELECT $1::int AS m) s ON n = m WHEN MATCHED THEN DELETE", []any{1}, true},
		{"(SELECT $1::int)", []any{1}, false},
		{"CALL p($1)", []any{1}, false},
		{"EXPLAIN SELECT $1::int", []any{1}, false},
		{"/*/ SELECT */ SELECT $1::int", []any{1}, true},
		{"/* SELECT /* nested */ 1 */ SELECT $1::int", []any{1}, false},
		{prepared.PlanPerValue + " SELECT $1::int", []any{1}, false},
		{"\n\t" + prepared.PlanPerValue + "\nSELECT $1::int", []any{1}, false},
		{"SELECT $1::int " + prepared.PlanPerValue, []any{1}, true},
	} {
		must(t, db, c.query, c.args...)
		must(t, db, c.query, c.args...)
		_, found := kept(t, db)[c.query]
		require.Equal(t, c.kept, found, c.query)
	}
}

func TestPlanPerValueSeesTheValue(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)
	must(t, db, `CREATE TABLE empty (n int);
		CREATE FUNCTION picky(n int) RETURNS int LANGUAGE plpgsql IMMUTABLE COST 0.01 AS $$
		BEGIN
			IF n = 99 THEN RAISE EXCEPTION 'planned for 99'; END IF;
			RETURN n;
		END $$`)
	// Over an empty table only a planner that knows the value calls picky.
	const query = "SELECT FROM empty WHERE n > picky($1)"
	for range 8 {
		must(t, db, query, 1)
		must(t, db, prepared.PlanPerValue+query, 1)
	}

	must(t, db, query, 99)
	_, err := db.ExecContext(t.Context(), prepared.PlanPerValue+query, 99)
	require.ErrorContains(t, err, "planned for 99")
}

func TestEvictionClosesTheLeastRecentlyUsed(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1, prepared.CacheSize(2))
	const a, b, c = "SELECT $1::int AS a", "SELECT $1::int AS b", "SELECT $1::int AS c"

	for _, query := range []string{a, b, a, c} {
		require.Equal(t, 5, one[int](t, db, query, 5))
	}
	require.Equal(t, map[string]int{a: 2, c: 1}, kept(t, db))

	require.Equal(t, 5, one[int](t, db, b, 5))
	require.Equal(t, map[string]int{c: 1, b: 1}, kept(t, db))
}

func TestFailedPreparationKeepsNothing(t *testing.T) {
	t.Parallel()
	db := setup(t).open(t, 1)

	_, err := db.ExecContext(t.Context(), "SELECT nowhere FROM nothing WHERE a = $1", 1)

	require.ErrorContains(t, err, `relation "nothing" does not exist at column 21`)
	require.Empty(t, kept(t, db))
}
