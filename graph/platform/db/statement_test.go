package db_test

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
)

func TestStatementsOfAFile(t *testing.T) {
	t.Parallel()
	all := db.Load(fstest.MapFS{"a.sql": {Data: []byte(`-- What stands before the first heading belongs to none.

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
	require.Equal(t, db.Statement{Name: "second", Text: "SELECT 1"}, *all.Named("second"))
	require.Panics(t, func() { all.Named("third") })
}

func TestTextsThatStatementsShare(t *testing.T) {
	t.Parallel()
	shared := fstest.MapFS{"brief.sql": {Data: []byte(`-- text: brief(b, author)
-- A comment with b in it.
b.id AS "author.id", f(b) AS "author.name"
`)}}
	all := db.Load(fstest.MapFS{"a.sql": {Data: []byte(`-- text: card
p.id, 'b', :brief(b, author)

-- text: joins
JOIN bots m ON m.id = :caller -- the caller

-- name: first(caller uuid)
SELECT :card FROM p :joins WHERE p.id <> :caller AND ':card' <> "a:card" -- :card

-- name: second(x integer)
SELECT :brief(c, customer), x.b, :x::integer, :card
`)}}, shared)
	require.Equal(t, `SELECT p.id, 'b', b.id AS "author.id", f(b) AS "author.name" FROM p JOIN bots m ON m.id = $1 `+
		`WHERE p.id <> $1 AND ':card' <> "a:card"`, all.Named("first").Text)
	require.Equal(t, `SELECT c.id AS "customer.id", f(c) AS "customer.name", x.b, $1::integer, p.id, 'b', `+
		`b.id AS "author.id", f(b) AS "author.name"`, all.Named("second").Text)
	require.Len(t, all, 2)
}

func TestWrongStatements(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no heading":                     "SELECT 1",
		"only texts":                     "-- text: t\n1",
		"unknown parameter":              "-- name: a(one integer)\nSELECT :one, :two",
		"unused parameter":               "-- name: a(one integer)\nSELECT 1",
		"parameter, no type":             "-- name: a(one)\nSELECT :one",
		"two of the same name":           "-- name: a()\nSELECT 1\n-- name: a()\nSELECT 2",
		"unknown text":                   "-- name: a()\nSELECT :t(b)",
		"unknown text without words":     "-- name: a()\nSELECT :t",
		"unused text":                    "-- text: t\n1\n-- name: a()\nSELECT 1",
		"text named in a comment":        "-- text: t\n1\n-- name: a()\nSELECT 1 -- :t",
		"two texts of the same name":     "-- text: t\n1\n-- text: t\n2\n-- name: a()\nSELECT :t",
		"text after its use":             "-- name: a()\nSELECT :t\n-- text: t\n1",
		"text in itself":                 "-- text: t\n:t\n-- name: a()\nSELECT :t",
		"unknown text in a text":         "-- text: t\n:u\n-- name: a()\nSELECT :t",
		"too few words":                  "-- text: t(b, c)\nb.id\n-- name: a()\nSELECT :t(d)",
		"words for a text without":       "-- text: t\nb.id\n-- name: a()\nSELECT :t(d)",
		"parameter of the name of texts": "-- text: t\nb.id\n-- name: a(t uuid)\nSELECT :t",
	} {
		require.Panics(t, func() { db.Load(fstest.MapFS{"a.sql": {Data: []byte(text)}}) }, name)
	}
}

func TestSharedFilesHoldTextsThatAreUsed(t *testing.T) {
	t.Parallel()
	own := fstest.MapFS{"a.sql": {Data: []byte("-- name: a()\nSELECT :t")}}
	for name, text := range map[string]string{
		"a statement":    "-- text: t\n1\n-- name: b()\nSELECT 2",
		"an unused text": "-- text: t\n1\n-- text: u\n2",
	} {
		require.Panics(t, func() { db.Load(own, fstest.MapFS{"b.sql": {Data: []byte(text)}}) }, name)
	}
}
