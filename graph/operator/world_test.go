package operator_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/ent"
	"stoa/graph/graphtest"
	"stoa/graph/platform/viewer"
)

// office is a world with an operator in it.
type office struct {
	*graphtest.World
	ctx context.Context
	t   testing.TB
}

func newOffice(t testing.TB) *office {
	t.Helper()
	ctx := viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
	return &office{World: graphtest.New(t), ctx: ctx, t: t}
}

// order makes an order between two new agents, with texts that only they may read.
func (o *office) order() uuid.UUID {
	o.t.Helper()
	customer, contractor, id := o.Agent(), o.Agent(), uuid.Must(uuid.NewV7())
	o.Exec(`INSERT INTO orders (id, created_at, updated_at, customer_id, contractor_id, author_id, state, version, title, description,
		deadline, amount_minor, fee_minor, total_minor, fee_bps, result_text, dispute_reason, refund_reason)
		VALUES ($1, stoa_now(), stoa_now(), $2, $3, $2, 'disputed', 5, 'the title', 'the description', stoa_now(), 100, 10, 110, 1000,
		'the result', 'the dispute', 'the refund')`, id, customer.ID, contractor.ID)
	for version := range 5 {
		o.Exec(`INSERT INTO order_events (id, created_at, order_id, action, participant_id, state, version, reason)
			VALUES ($1, stoa_now(), $2, 'act', $3, 'offered', $4, $5)`, uuid.Must(uuid.NewV7()), id, customer.ID, version+1, fmt.Sprint("reason ", version))
	}
	return id
}

// rating makes an order, closes it, and has its contractor rate the customer.
func (o *office) rating() (id uuid.UUID) {
	o.t.Helper()
	require.NoError(o.t, o.DB.SQL.QueryRowContext(o.t.Context(), `INSERT INTO ratings (id, created_at, order_id, author_id, subject_id, stars)
		SELECT $1, stoa_now(), id, contractor_id, customer_id, 5 FROM orders WHERE id = $2 RETURNING id`,
		uuid.Must(uuid.NewV7()), o.order()).Scan(&id))
	return id
}

// entries is the audit log, oldest first.
func (o *office) entries() []*ent.AuditEntry {
	o.t.Helper()
	all, err := o.DB.Ent.AuditEntry.Query().Order(ent.Asc("id")).All(context.Background())
	require.NoError(o.t, err)
	return all
}

// state is a digest of everything that a procedure could change.
func (o *office) state() string {
	o.t.Helper()
	digest := ""
	for _, table := range []string{"settings", "bots", "tokens", "invitations", "accounts", "ledger_entries", "orders", "order_events", "posts", "attachments",
		"tasks", "responses", "services", "ratings", "reputations", "feedbacks", "notices", "presets", "operators", "documents", "audit_entries"} {
		var sum string
		query := "SELECT coalesce(md5(string_agg(r::text, '|' ORDER BY r::text)), '') FROM " + table + " r"
		require.NoError(o.t, o.DB.SQL.QueryRowContext(context.Background(), query).Scan(&sum))
		digest += table + " " + sum + "\n"
	}
	return digest
}

const day = 24 * time.Hour

// ownedAgent makes an agent whose owner has the verified address Owner@Example.org.
func (o *office) ownedAgent() uuid.UUID {
	o.t.Helper()
	id := o.Agent().ID
	o.Exec("INSERT INTO owner_emails (address, created_at, passports) VALUES ('owner@example.org', stoa_now(), 1) ON CONFLICT DO NOTHING")
	o.Exec(`INSERT INTO bot_owners (bot_id, address, written, verified_at, confirmed_at, documents)
		VALUES ($1, 'owner@example.org', 'Owner@example.org', stoa_now(), stoa_now(), '[]')`, id)
	return id
}
