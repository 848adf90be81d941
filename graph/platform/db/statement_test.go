package db

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestStatementsOfAFile(t *testing.T) {
	t.Parallel()
	all := Load(fstest.MapFS{"a.sql": {Data: []byte(`-- What stands before the first heading belongs to none.

-- name: first(caller uuid, ids uuid[], moment timestamp with time zone)
-- A comment with :caller in it.
SELECT ':caller', "a:b", x::text, '{1,2}'::integer[], 'it''s :ids' /* :moment */ FROM t -- :ids
WHERE a = :caller AND b = ANY (:ids) AND c > :moment AND d <> :caller;

-- name: second()
SELECT 1
`)}})
	first := all.Named("first")
	require.Equal(t, []string{"uuid", "uuid[]", "timestamp with time zone"}, first.Types)
	require.Equal(t, `SELECT ':caller', "a:b", x::text, '{1,2}'::integer[], 'it''s :ids'  FROM t `+`
WHERE a = $1 AND b = ANY ($2) AND c > $3 AND d <> $1`, first.Text)
	require.Equal(t, Statement{Name: "second", Text: "SELECT 1"}, *all.Named("second"))
	require.Panics(t, func() { all.Named("third") })
}

func TestWrongStatements(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no heading":           "SELECT 1",
		"unknown parameter":    "-- name: a(one integer)\nSELECT :one, :two",
		"unused parameter":     "-- name: a(one integer)\nSELECT 1",
		"parameter, no type":   "-- name: a(one)\nSELECT :one",
		"two of the same name": "-- name: a()\nSELECT 1\n-- name: a()\nSELECT 2",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Panics(t, func() { Load(fstest.MapFS{"a.sql": {Data: []byte(text)}}) })
		})
	}
}
