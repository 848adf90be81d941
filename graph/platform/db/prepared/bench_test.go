package prepared_test

import (
	"database/sql"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkLookUp finds one of 10,000 agents by the hash of its token, over
// plain lib/pq and over kept statements, as ent writes such a query.
func BenchmarkLookUp(b *testing.B) {
	w := setup(b)
	must(b, w.plain, `CREATE TABLE agents (id uuid PRIMARY KEY DEFAULT gen_random_uuid(), name text, state text, created_at timestamptz DEFAULT now());
		CREATE TABLE tokens (hash bytea PRIMARY KEY, agent_id uuid REFERENCES agents, revoked_at timestamptz);
		INSERT INTO agents (name, state) SELECT 'agent ' || n, 'active' FROM generate_series(1, 10000) n;
		INSERT INTO tokens SELECT sha256(convert_to(name, 'UTF8')), id FROM agents;
		ANALYZE agents, tokens`)
	const query = `SELECT "agents"."id", "agents"."name", "agents"."state", "agents"."created_at" FROM "agents"
		JOIN "tokens" AS "t1" ON "agents"."id" = "t1"."agent_id"
		WHERE "t1"."hash" = sha256(convert_to($1, 'UTF8')) AND "t1"."revoked_at" IS NULL AND "agents"."state" = $2 LIMIT 1`

	b.Run("plain", func(b *testing.B) { lookUp(b, w.plain, query) })
	b.Run("prepared", func(b *testing.B) { lookUp(b, w.open(b, 2), query) })
}

func lookUp(b *testing.B, db *sql.DB, query string) {
	b.Helper()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		var id, name, state string
		var at sql.NullTime
		err := db.QueryRowContext(b.Context(), query, fmt.Sprint("agent ", n%10000+1), "active").Scan(&id, &name, &state, &at)
		require.NoError(b, err)
	}
}

// BenchmarkInsert adds a row in its own transaction.
func BenchmarkInsert(b *testing.B) {
	w := setup(b)
	must(b, w.plain, "CREATE TABLE notes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body text, detail jsonb)")
	const query = "INSERT INTO notes (body, detail) VALUES ($1, $2) RETURNING id"

	for name, db := range map[string]*sql.DB{"plain": w.plain, "prepared": w.open(b, 2)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var id int64
				require.NoError(b, db.QueryRowContext(b.Context(), query, "a note", `{"kind": "note"}`).Scan(&id))
			}
		})
	}
}
