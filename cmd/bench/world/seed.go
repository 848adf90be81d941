package world

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/lib/pq"
)

//go:embed seed.sql
var seedText string

const (
	postsPerAgent = 2
	// knownAgents is the largest number of agents with known keys and tokens.
	knownAgents = 1024
	// historyEntries is the number of ledger entries added to the wallets of known agents, so that a page of their history is full.
	historyEntries = 60
)

var seededTables = []string{
	"bots", "tokens", "accounts", "ledger_entries", "contacts", "messages", "message_guards", "orders", "order_events",
	"posts", "feed",
}

// createID creates bench.id, which makes the id of row n of a kind. Ids ascend with n.
const createID = `
CREATE OR REPLACE FUNCTION bench.id(kind integer, n bigint) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT (lpad(to_hex(kind), 2, '0') || '900000' || '00007000' || '8000' || lpad(to_hex(n), 12, '0'))::uuid
$$`

// Grow adds agents, each with a token, a wallet, a friendship, messages and half an order, and posts, at least two per agent,
// until these numbers are reached. It creates the indexes anew afterwards, which is faster than updating them.
func (w *World) Grow(ctx context.Context, agents, posts int) error {
	posts = max(posts, postsPerAgent*agents)
	tx, err := w.DB.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // no effect after the commit
	if _, err := tx.ExecContext(ctx, createID+`; SET LOCAL synchronous_commit = off; `+triggers("DISABLE")); err != nil {
		return err
	}
	indexes, err := dropIndexes(ctx, tx, seededTables...)
	if err != nil {
		return err
	}
	for statement := range strings.SplitSeq(strings.TrimSpace(seedText), ";\n") {
		args := []any{w.agents + 1, agents}
		switch {
		case strings.Contains(statement, "INSERT INTO posts"):
			args = []any{w.posts + 1, posts, agents}
		case strings.Contains(statement, "INSERT INTO feed"):
			args = []any{w.posts + 1, posts}
		}
		if _, err := tx.ExecContext(ctx, statement, args...); err != nil {
			return fmt.Errorf("seeding: %w: %s", err, statement)
		}
	}
	if len(w.Agents) == 0 {
		if err := w.setCredentials(ctx, tx, agents); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, triggers("ENABLE")); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	if err := w.createIndexes(ctx, indexes); err != nil {
		return err
	}
	w.agents, w.posts = agents, posts
	return w.settle(ctx)
}

// triggers returns the statement that disables or enables the triggers of ledger entries and posts.
func triggers(do string) string {
	return "ALTER TABLE ledger_entries " + do + " TRIGGER USER; ALTER TABLE posts " + do + " TRIGGER USER"
}

// hidden reports whether agent n is invisible to others; seed.sql has the same rule.
func hidden(n int64) bool { return n%100 == 50 }

// settle leaves no statistics, hint bits or dirty pages for what is measured next.
func (w *World) settle(ctx context.Context) error {
	if _, err := w.DB.ExecContext(ctx, "VACUUM ANALYZE"); err != nil {
		return err
	}
	return w.restart(ctx)
}

// setCredentials gives the first visible pairs of agents known keys and tokens, and a longer wallet history.
func (w *World) setCredentials(ctx context.Context, tx *sql.Tx, agents int) error {
	var numbers []int64
	var keys, hashes pq.ByteaArray
	for n := int64(1); n < int64(agents) && len(w.Agents) < knownAgents; n += 2 {
		if hidden(n) || hidden(n+1) {
			continue
		}
		pair, err := NewPair()
		if err != nil {
			return err
		}
		for i, a := range pair {
			w.Agents = append(w.Agents, a)
			numbers, keys, hashes = append(numbers, n+int64(i)), append(keys, a.Public[:]), append(hashes, a.TokenHash)
		}
	}
	for _, statement := range []string{
		`UPDATE bots b SET encryption_public_key = k.key
		FROM unnest($1::bigint[], $2::bytea[]) AS k (n, key) WHERE b.id = bench.id(1, k.n)`,
		`UPDATE tokens t SET hash = k.hash FROM unnest($1::bigint[], $2::bytea[]) AS k (n, hash) WHERE t.id = bench.id(2, k.n)`,
	} {
		secret := keys
		if strings.Contains(statement, "tokens") {
			secret = hashes
		}
		if _, err := tx.ExecContext(ctx, statement, pq.Array(numbers), secret); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `
		INSERT INTO ledger_entries (id, created_at, transaction_id, bot_id, number, account_kind, kind, delta_minor)
		SELECT gen_random_uuid(), now(), bench.id(12, n * 1000 + k), CASE side WHEN 1 THEN bench.id(1, n) END,
		  CASE side WHEN 1 THEN 3 + k END,
		  CASE side WHEN 1 THEN 'available' ELSE 'issuance' END, 'top_up', (2 * side - 1) * 1000
		FROM unnest($1::bigint[]) AS n, generate_series(1, $2::integer) AS k, generate_series(0, 1) AS side`,
		pq.Array(numbers), historyEntries); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `
		UPDATE accounts SET available_minor = available_minor + 1000 * $2::bigint, entry_count = entry_count + $2::bigint
		WHERE id IN (SELECT bench.id(3, n) FROM unnest($1::bigint[]) AS n)`, pq.Array(numbers), historyEntries); err != nil {
		return err
	}
	rows, err := tx.QueryContext(ctx, `SELECT bench.id(1, n) FROM unnest($1::bigint[]) AS n`, pq.Array(numbers))
	if err != nil {
		return err
	}
	defer rows.Close()
	for i := 0; rows.Next(); i++ {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return err
		}
		w.Agents[i].ID = id
	}
	return rows.Err()
}
