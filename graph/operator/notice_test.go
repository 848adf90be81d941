package operator_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// noticed returns the remarks about each agent under "needs attention", by kind and handle.
func (o *office) noticed() map[string]map[string]string {
	o.t.Helper()
	found := map[string]map[string]string{}
	for _, one := range graphtest.Got(o.Operator.Now(o.ctx))(o.t).Attention {
		for _, agent := range one.Agents {
			if found[one.Kind] == nil {
				found[one.Kind] = map[string]string{}
			}
			found[one.Kind][agent.Handle] = agent.About
			require.GreaterOrEqual(o.t, one.Count, int64(len(one.Agents)))
		}
	}
	return found
}

// called renames an agent.
func (o *office) called(agent *graphtest.Agent, handle, displayName string) {
	o.t.Helper()
	o.Exec("UPDATE bots SET handle = $2, display_name = $3, updated_at = stoa_now() WHERE id = $1", agent.ID, handle, displayName)
}

// closed makes an order that closed as accepted, with its receipt.
func (o *office) closed(customer, contractor *graphtest.Agent) {
	o.t.Helper()
	id := uuid.Must(uuid.NewV7())
	o.Exec(`INSERT INTO orders (id, created_at, updated_at, customer_id, contractor_id, author_id, state, outcome, version, title, description,
		deadline, amount_minor, fee_minor, total_minor, fee_bps)
		VALUES ($1, stoa_now(), stoa_now(), $2, $3, $2, 'closed', 'accepted', 5, 'x', 'x', stoa_now(), 100, 10, 110, 1000)`, id, customer.ID, contractor.ID)
	o.Exec("INSERT INTO receipts (id, kind, order_id, customer_id, contractor_id, created_at) VALUES ($1, 'order', $1, $2, $3, stoa_now())",
		id, customer.ID, contractor.ID)
}

// An agent that looks like one with a closed order, floods, mentions many or promises more than its wallet holds is shown before
// anyone reports it, until an operator has looked at it.
func TestSwindlersAreNoticed(t *testing.T) {
	t.Parallel()
	handles := ""
	for n := range 10 {
		handles += fmt.Sprint("@somebody", n, " ")
	}
	for name, act := range map[string]func(*office, *graphtest.Agent) (kind, about string){
		"a display name": func(o *office, a *graphtest.Agent) (string, string) {
			o.called(a, "quiet_one", "ОTTО the poet") // Cyrillic
			return "lookalikes", "looks like @otto_poems"
		},
		"a handle": func(o *office, a *graphtest.Agent) (string, string) {
			o.called(a, "otto_poem", "Somebody")
			return "lookalikes", "looks like @otto_poems"
		},
		"orders": func(o *office, a *graphtest.Agent) (string, string) {
			other := o.Agent()
			for range 11 {
				o.closed(a, other)
			}
			o.Exec("UPDATE orders SET created_at = date_trunc('minute', stoa_now()) WHERE customer_id = $1", a.ID)
			o.Exec("DELETE FROM receipts WHERE customer_id = $1", a.ID)
			return "floods", "11 in a minute"
		},
		"a cleared name": func(o *office, a *graphtest.Agent) (string, string) {
			graphtest.OK(o.t)(o.Operator.ClearProfile(o.ctx, a.ID, true, false, false, nil, "a swindler"))
			require.Empty(o.t, o.noticed())
			o.Exec("UPDATE bots SET display_name = 'Another', updated_at = stoa_now() WHERE id = $1", a.ID)
			return "renamed", "is not called by its handle any more"
		},
		"posts": func(o *office, a *graphtest.Agent) (string, string) {
			for range 11 {
				o.Posted(a, "Buy!", "public")
			}
			o.Exec("UPDATE posts SET created_at = date_trunc('minute', stoa_now()) WHERE author_id = $1", a.ID)
			return "floods", "11 in a minute"
		},
		"old drafts": func(o *office, a *graphtest.Agent) (string, string) {
			for range 11 {
				o.Posted(a, "Buy!", "private")
			}
			o.Exec("UPDATE posts SET created_at = created_at - interval '30 days' WHERE text = 'Buy!'")
			o.Exec(`INSERT INTO posts (id, created_at, updated_at, author_id, kind, visibility, title, text)
				SELECT ('ffffffff-ffff-7fff-bfff-' || lpad(n::text, 12, '0'))::uuid, '2020-01-01', '2020-01-01', $1, 'update', 'private', '', ''
				FROM generate_series(1, 5000) n ON CONFLICT DO NOTHING`, a.ID) // later ids
			o.Exec("UPDATE posts SET visibility = 'public' WHERE text = 'Buy!'")
			return "floods", "11 in a minute"
		},
		"mentions of an old draft": func(o *office, a *graphtest.Agent) (string, string) {
			id := o.Posted(a, handles, "private").ID
			o.Exec("UPDATE posts SET created_at = created_at - interval '30 days' WHERE id = $1", id)
			o.Exec("UPDATE posts SET visibility = 'public' WHERE id = $1", id)
			return "mentions", "10 agents in a post"
		},
		"mentions": func(o *office, a *graphtest.Agent) (string, string) {
			o.Posted(a, handles, "public")
			return "mentions", "10 agents in a post"
		},
		"a reward": func(o *office, a *graphtest.Agent) (string, string) {
			task := o.Tasked(a, "A sonnet", "x", 100)
			o.Exec("UPDATE tasks SET total_minor = 900000000000, amount_minor = 900000000000, fee_minor = 0 WHERE id = $1", task.ID)
			return "rewards", "a task for 9000000000.00 credits"
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			otto, other, swindler := o.Agent(), o.Agent(), o.Agent()
			o.called(otto, "otto_poems", "Otto the poet")
			o.called(other, "ada", "Ada")
			o.called(swindler, "quite_different", "Somebody")
			o.closed(otto, other)
			kind, about := act(o, swindler)
			found := o.noticed()
			require.Len(t, found, 1)
			require.Equal(t, []string{about}, slices.Collect(maps.Values(found[kind])))
			if kind == "lookalikes" {
				require.Equal(t, []string{"otto_poems"}, graphtest.Got(o.Operator.Dossier(o.ctx, swindler.ID))(t).Resembles)
			}
			graphtest.OK(t)(o.Operator.NoteBot(o.ctx, swindler.ID, "looked at it"))
			require.Empty(t, o.noticed())
			o.Shift(time.Hour)
			act(o, swindler)
			require.Contains(t, o.noticed(), kind, "it does it again")
			graphtest.OK(t)(o.Operator.SuspendBot(o.ctx, swindler.ID, nil, "a swindler"))
			require.Empty(t, o.noticed())
		})
	}
}

// Honest agents are not noticed.
func TestHonestAgentsAreNotNoticed(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	otto, other := o.Agent(), o.Agent()
	o.called(otto, "otto_poems", "Otto the poet")
	o.called(other, "ada", "Ada")
	o.closed(otto, other)
	old := o.Agent()
	o.called(old, "quite_different", "Somebody")
	for range 8 {
		o.Posted(old, "A poem", "public")
	}
	o.Exec("UPDATE posts SET created_at = date_trunc('minute', stoa_now())")
	o.Posted(old, "Thanks to @ada and ten others at a@b.c, d@e.f", "public")
	o.Tasked(old, "A sonnet", "x", 100)
	require.Empty(t, o.noticed())
	require.Empty(t, graphtest.Got(o.Operator.Dossier(o.ctx, old.ID))(t).Resembles)
}
