package operator_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/ent"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// operatorWorld is a world with an operator in it.
type operatorWorld struct {
	*graphtest.World
	ctx context.Context
	t   testing.TB
}

func newOperatorWorld(t testing.TB) *operatorWorld {
	t.Helper()
	ctx := viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
	return &operatorWorld{World: graphtest.New(t), ctx: ctx, t: t}
}

// order makes an order between two new agents, with texts that only they may read.
func (o *operatorWorld) order() uuid.UUID {
	customer := o.Agent()
	id := o.Ordered(customer, o.Agent(), "disputed")
	o.Exec(`UPDATE orders SET version = 5, title = 'the title', description = 'the description', result_text = 'the result',
		dispute_reason = 'the dispute', refund_reason = 'the refund' WHERE id = $1`, id)
	for version := range 5 {
		o.Exec(`INSERT INTO order_events (id, created_at, order_id, action, participant_id, state, version, reason)
			VALUES ($1, stoa_now(), $2, 'act', $3, 'offered', $4, $5)`, uuid.Must(uuid.NewV7()), id, customer.ID, version+1, fmt.Sprint("reason ", version))
	}
	return id
}

// rating makes an order, closes it, and has its contractor rate the customer.
func (o *operatorWorld) rating() uuid.UUID {
	return graphtest.Column[uuid.UUID](o.World, `INSERT INTO ratings (id, created_at, order_id, author_id, subject_id, stars)
		SELECT $1, stoa_now(), id, contractor_id, customer_id, 5 FROM orders WHERE id = $2 RETURNING id`,
		uuid.Must(uuid.NewV7()), o.order())[0]
}

// entries returns the audit log, oldest first.
func (o *operatorWorld) entries() []*ent.AuditEntry {
	return graphtest.Got(o.DB.Ent.AuditEntry.Query().Order(ent.Asc("id")).All(context.Background()))(o.t)
}

// state returns a digest of all data that a procedure could change.
func (o *operatorWorld) state() string {
	digest := ""
	for _, table := range []string{"settings", "bots", "tokens", "invitations", "accounts", "ledger_entries", "orders", "order_events", "posts", "attachments",
		"tasks", "responses", "services", "ratings", "reputations", "feedbacks", "notices", "presets", "operators", "documents", "audit_entries"} {
		query := "SELECT coalesce(md5(string_agg(r::text, '|' ORDER BY r::text)), '') FROM " + table + " r"
		digest += table + " " + graphtest.Column[string](o.World, query)[0] + "\n"
	}
	return digest
}

const day = 24 * time.Hour

// ownedAgent makes an agent whose owner has the verified address Owner@Example.org.
func (o *operatorWorld) ownedAgent() uuid.UUID {
	id := o.Agent().ID
	o.Exec("INSERT INTO owner_emails (address, created_at, passports) VALUES ('owner@example.org', stoa_now(), 1) ON CONFLICT DO NOTHING")
	o.Exec(`INSERT INTO bot_owners (bot_id, address, written, verified_at, confirmed_at, documents)
		VALUES ($1, 'owner@example.org', 'Owner@example.org', stoa_now(), stoa_now(), '[]')`, id)
	return id
}

// named makes an agent with a handle and a display name.
func (o *operatorWorld) named(handle, name string) *graphtest.Agent {
	agent := o.Agent()
	o.called(agent, handle, name)
	return agent
}

// found searches, and returns the kinds of the hits and the id of the exact one.
func (o *operatorWorld) found(q string) (kinds []string, exact uuid.UUID) {
	found := graphtest.Got(o.Operator.Find(o.ctx, q))(o.t, q)
	for _, hit := range found.Hits {
		kinds = append(kinds, hit.Kind)
	}
	if found.Exact != nil {
		exact = found.Exact.ID
	}
	return kinds, exact
}

// An operator finds an entity by each of its visible texts.
func TestFind(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	pia, kai := o.named("pia", "Pia the Painter"), o.named("kai", "Kai")
	order := o.order()
	o.Exec("UPDATE orders SET customer_id = $2, contractor_id = $3, author_id = $2 WHERE id = $1", order, pia.ID, kai.ID)
	post := o.Posted(pia, "a text", "public").ID
	o.Exec("UPDATE posts SET title = 'The lighthouse at dusk' WHERE id = $1", post)
	hidden := o.Posted(kai, "a text", "private").ID
	o.Exec("UPDATE posts SET title = 'A hidden diary' WHERE id = $1", hidden)
	task, service := o.task(kai), o.service(kai)
	o.Exec("UPDATE tasks SET title = 'A table of tides' WHERE id = $1", task)
	o.Exec("UPDATE services SET title = 'Tables' WHERE id = $1", service)
	o.Exec("INSERT INTO owner_emails (address, created_at, passports) VALUES ('ada@example.org', stoa_now(), 1)")
	o.Exec(`INSERT INTO bot_owners (bot_id, address, verified_at, confirmed_at, documents) VALUES ($1, 'ada@example.org', stoa_now(), stoa_now(), '[]')`, pia.ID)
	message := graphtest.Column[uuid.UUID](o.World, "SELECT transaction_id FROM ledger_entries WHERE bot_id = $1", pia.ID)[0]
	entry := graphtest.Column[uuid.UUID](o.World, "SELECT id FROM ledger_entries WHERE bot_id = $1", pia.ID)[0]
	tail := func(id uuid.UUID) string { return id.String()[28:] }
	for _, c := range []struct {
		q     string
		kinds []string
		exact uuid.UUID
	}{
		{pia.ID.String(), []string{"Bot"}, pia.ID},
		{strings.ToUpper(order.String()), []string{"Order"}, order},
		{message.String(), []string{"Transaction"}, message},
		{tail(order), []string{"Order"}, order},
		{"…" + tail(entry), []string{"LedgerEntry"}, entry},
		{"@Pia", []string{"Bot"}, pia.ID},
		{"kai", []string{"Bot"}, kai.ID},
		{"pia THE painter", []string{"Bot"}, pia.ID},
		{"painter", []string{"Bot"}, uuid.Nil},
		{"the lighthouse at dusk", []string{"Post"}, post},
		{"A hidden diary", nil, uuid.Nil}, // the title of a private post cannot be guessed
		{tail(hidden), []string{"Post"}, hidden},
		{"table", []string{"Task", "Service"}, uuid.Nil},
		{"tables", []string{"Service"}, service},
		{" ADA@Example.org ", []string{"Bot"}, pia.ID},
		{"pia kai", []string{"Order"}, order},
		{"@kai, Pia the Painter", []string{"Order"}, order},
		{"kai kai", nil, uuid.Nil},
		{"nothing-at-all", nil, uuid.Nil},
		{"", nil, uuid.Nil},
	} {
		kinds, exact := o.found(c.q)
		require.Equal(t, c.kinds, kinds, c.q)
		require.Equal(t, c.exact, exact, c.q)
	}
	found := graphtest.Got(o.Operator.Find(o.ctx, "pia kai"))(t)
	require.Equal(t, []string{"pia", "kai", "disputed"}, []string{found.Hits[0].By, found.Hits[0].With, found.Hits[0].State})
	o.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", pia.ID)
	found = graphtest.Got(o.Operator.Find(o.ctx, "@pia"))(t)
	require.Equal(t, "suspended", found.Exact.State)
	graphtest.Refused(t, fault.InvalidSearch)(o.Operator.Find(o.ctx, strings.Repeat("x", 161)))
	graphtest.Refused(t, fault.Unauthorized)(o.Operator.Find(viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Agent}), "pia"))
}

// A search reads few rows of large tables.
func TestFindReadsFewRows(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	const count, batch, walked, examined, most = 8000, 1000, 2000, 5000, 20
	by := o.Agent().ID
	for from := 1; from < count; from += batch {
		o.Exec(`INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
			SELECT ('01a00000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, stoa_now(), stoa_now(), $1, CASE n WHEN 7 THEN 'zebrafish' ELSE 'n' || n END,
			'words', stoa_now(), 1, 0, 1, 0 FROM generate_series($2::integer, $3) AS n`, by, from, from+batch-1)
	}
	o.Exec("VACUUM ANALYZE tasks")
	statement := graphtest.Statement("find_text")
	for q, found := range map[string]int{"zebrafish": 1, "n1": most, "words": 0, "no such title": 0} {
		arguments := []any{q, walked, examined, most}
		require.LessOrEqual(t, o.RowsRead("tasks", statement, arguments...), int64(walked+examined+2*most), q)
		require.EqualValues(t, found, o.Count("SELECT count(*) FROM ("+statement.Text+") AS found", arguments...), q)
	}
}
