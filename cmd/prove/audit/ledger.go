// Package audit checks state that no agent sees, in the database and the processes of a proof: whether the ledger balances, and
// which resources the service still holds. It knows tables by their names, but none of the service's code.
package audit

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/lib/pq"

	"stoa/cmd/prove/testbed"
)

// invariants are statements that return a line for each violation (§2.5).
var invariants = []struct{ promise, statement string }{
	{"the entries of a transaction sum to zero", `
		SELECT format('transaction %s sums to %s', transaction_id, sum(delta_minor))
		FROM ledger_entries GROUP BY transaction_id HAVING sum(delta_minor) <> 0`},
	{"balances are the sums of their entries and never negative", `
		SELECT format('agent %s has %s and %s, its entries say %s and %s', a.bot_id, a.available_minor, a.reserved_minor, e.available, e.reserved)
		FROM accounts a CROSS JOIN LATERAL (
		  SELECT coalesce(sum(delta_minor) FILTER (WHERE account_kind = 'available'), 0) AS available,
		    coalesce(sum(delta_minor) FILTER (WHERE account_kind = 'reserved'), 0) AS reserved
		  FROM ledger_entries WHERE bot_id = a.bot_id) e
		WHERE (a.available_minor, a.reserved_minor) IS DISTINCT FROM (e.available, e.reserved)
		  OR least(a.available_minor, a.reserved_minor) < 0`},
	{"entries are numbered without a gap", `
		SELECT format('agent %s has %s entries numbered up to %s', bot_id, count(*), max(number))
		FROM ledger_entries WHERE bot_id IS NOT NULL GROUP BY bot_id HAVING count(*) <> max(number) OR min(number) <> 1`},
	{"every agent has its grant once", `
		SELECT format('agent %s has %s grants', b.handle, count(e.id))
		FROM bots b LEFT JOIN ledger_entries e ON e.bot_id = b.id AND e.kind = 'grant' GROUP BY b.handle HAVING count(e.id) <> 1`},
	{"money is reserved for an order while it is under way, and then paid or returned once", `
		SELECT format('order %s is %s, and its entries are %s', o.id, o.state, e.kinds)
		FROM orders o CROSS JOIN LATERAL (
		  SELECT coalesce(string_agg(kind, ',' ORDER BY kind), '') AS kinds
		  FROM (SELECT DISTINCT transaction_id, kind FROM ledger_entries WHERE order_id = o.id) t) e
		WHERE e.kinds <> CASE
		  WHEN o.state IN ('funded', 'in_progress', 'delivered', 'disputed') THEN 'reserve'
		  WHEN o.state = 'closed' AND o.outcome = 'accepted' THEN 'payment,reserve'
		  WHEN o.state = 'closed' THEN 'refund,reserve'
		  ELSE '' END`},
	{"an order moves its whole price, and its contractor gets the amount", `
		SELECT format('order %s: %s moves %s of %s', o.id, e.kind, e.delta_minor, e.account_kind)
		FROM ledger_entries e JOIN orders o ON o.id = e.order_id
		WHERE e.bot_id IS NOT NULL AND abs(e.delta_minor) <> CASE
		  WHEN e.bot_id = o.contractor_id AND e.kind = 'payment' THEN o.amount_minor ELSE o.total_minor END`},
	{"what a customer has reserved is the total of its orders under way", `
		SELECT format('agent %s has %s reserved for orders of %s', a.bot_id, a.reserved_minor, o.total)
		FROM accounts a CROSS JOIN LATERAL (
		  SELECT coalesce(sum(total_minor), 0) AS total FROM orders
		  WHERE customer_id = a.bot_id AND state IN ('funded', 'in_progress', 'delivered', 'disputed')) o
		WHERE a.reserved_minor <> o.total`},
	{"credits come from grants alone", `
		SELECT format('issuance is %s, agents and fees hold %s', issued, held)
		FROM (SELECT coalesce(sum(delta_minor) FILTER (WHERE account_kind = 'issuance'), 0) AS issued,
		    coalesce(sum(delta_minor) FILTER (WHERE account_kind <> 'issuance'), 0) AS held FROM ledger_entries) s
		WHERE issued + held <> 0`},
}

// Ledger returns the violations of the ledger's invariants. None are expected.
func Ledger(ctx context.Context, db *sql.DB) ([]string, error) {
	found := []string{}
	for _, i := range invariants {
		var lines []string
		if err := db.QueryRowContext(ctx, "SELECT ARRAY("+i.statement+")").Scan(pq.Array(&lines)); err != nil {
			return nil, fmt.Errorf("%s: %w", i.promise, err)
		}
		for _, line := range lines {
			found = append(found, i.promise+": "+line)
		}
	}
	return found, nil
}

// counts are queries for rows that the database keeps for connected clients.
var counts = map[string]string{
	"socket_slots":        "SELECT count(*) FROM socket_leases JOIN socket_live_processes USING (process)",
	"upload_reservations": "SELECT count(*) FROM upload_reservations",
	"attachment_leases":   "SELECT count(*) FROM attachments WHERE lease_until IS NOT NULL",
	"advisory_locks": `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'
		AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
	"unfinished_uploads": "SELECT count(*) FROM attachments WHERE status = 'pending'",
	// Agents whose used budget differs from the size of their files.
	"unaccounted_storage": `SELECT count(*) FROM (SELECT * FROM storage_usage WHERE agent_id <> '00000000-0000-0000-0000-000000000000') u
		FULL JOIN (SELECT owner_id, sum(reserved_bytes) AS bytes, count(*) FILTER (WHERE reserved_bytes > 0) AS files
			FROM attachments GROUP BY owner_id) a ON a.owner_id = u.agent_id
		WHERE coalesce(u.bytes, 0) <> coalesce(a.bytes, 0) OR coalesce(u.files, 0) <> coalesce(a.files, 0)`,
	"database_connections": "SELECT count(*) FROM pg_stat_activity WHERE usename = 'stoa'",
}

// gauges are resources of each process, with their metrics.
var gauges = map[string]string{"goroutines": "go_goroutines", "open_files": "process_open_fds", "memory": "process_resident_memory_bytes"}

// Holdings returns the resources that the service holds, over all processes.
func Holdings(ctx context.Context, bed *testbed.Bed) (map[string]float64, error) {
	held := make(map[string]float64)
	for name, statement := range counts {
		var n float64
		if err := bed.DB.QueryRowContext(ctx, statement).Scan(&n); err != nil {
			return nil, err
		}
		held[name] = n
	}
	for _, server := range bed.Servers {
		metrics, err := server.Metrics(ctx)
		if err != nil {
			return nil, err
		}
		for name, metric := range gauges {
			held[name] += metrics[metric]
		}
	}
	temporary, err := temporaryFiles(filepath.Join(bed.Data(), "files"))
	held["temporary_files"] = float64(temporary)
	return held, err
}

// temporaryFiles counts the files that are neither an original nor made from one.
func temporaryFiles(folder string) (n int, err error) {
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && strings.Contains(filepath.Base(path), "tmp") {
			n++
		}
		return err
	})
	return n, err
}
