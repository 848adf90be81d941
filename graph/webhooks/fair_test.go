package webhooks_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/webhooks"
)

// forget drops all jobs, as if none had been added.
func (w *world) forget() {
	w.t.Helper()
	w.AskedJobs()
	w.Exec("UPDATE webhooks SET queued_until = NULL, due_at = stoa_now()")
}

// asked returns the webhooks whose jobs Queue adds.
func (w *world) asked() (all []uuid.UUID) {
	w.t.Helper()
	require.NoError(w.t, w.Webhooks.Queue(w.t.Context(), webhooks.Scope{}))
	for _, job := range w.AskedJobs() {
		all = append(all, job.(webhooks.DeliverJob).WebhookID)
	}
	return all
}

// The more time an agent's deliveries took, the lower is the priority of its job.
func TestPriorities(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.hook(agent, "https://agent.example/")
	w.tell(agent)
	for _, c := range []struct {
		used float64
		want int
	}{{0, 1}, {9, 1}, {11, 2}, {25, 3}, {35, 4}, {1000, 4}} {
		w.forget()
		w.Exec(`INSERT INTO webhook_time VALUES ($1, $2, stoa_now()) ON CONFLICT (bot_id) DO UPDATE SET used_seconds = $2, noted_at = stoa_now()`,
			agent.ID, c.used)
		require.NoError(t, w.Webhooks.Queue(t.Context(), webhooks.Scope{}))
		asked := w.AskedJobs()
		require.Len(t, asked, 1)
		require.Equal(t, c.want, asked[0].(webhooks.DeliverJob).Priority(), "%+v", c)
	}
}

// An agent's webhooks with prompt endpoints are served one at a time, each in turn, however often Queue is called; slow ones are
// served concurrently.
func TestOneOfAnAgentAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, other := w.Agent(), w.Agent()
	e := newEndpoint(t, nil)
	var ids []uuid.UUID
	for range 3 {
		ids = append(ids, w.hook(agent, e.URL).ID)
	}
	theirs := w.hook(other, e.URL).ID
	w.tell(agent)
	w.tell(other)
	w.Exec("UPDATE webhooks SET prompt = id <> $1", ids[2])
	w.forget()
	first := w.asked()
	require.Len(t, first, 3)
	require.Contains(t, first, ids[2], "the slow one")
	require.Contains(t, first, theirs)
	for range 3 {
		w.Shift(time.Second)
		require.Empty(t, w.asked(), "one is queued")
	}
	served, waits := ids[0], ids[1]
	if !slices.Contains(first, served) {
		served, waits = waits, served
	}
	w.Exec("UPDATE webhooks SET claimed_until = stoa_now() + interval '1 minute', queued_until = NULL WHERE id = $1", served)
	require.NoError(t, w.Webhooks.Deliver(t.Context(), waits))
	require.Empty(t, e.take(), "the other is being served")
	w.Exec("UPDATE webhooks SET claimed_until = NULL WHERE id = $1", served)
	require.NoError(t, w.Webhooks.Deliver(t.Context(), waits))
	require.Len(t, e.take(), 1)
}

// Queue checks at most a hundred webhooks a call, and webhooks that cannot be served do not hold up the others.
func TestALookIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent, held := w.Agent(), w.Agent()
	insert := func(of *graphtest.Agent, n int, notBefore string) {
		w.Exec(fmt.Sprintf(`WITH made AS (
			INSERT INTO webhooks (id, created_at, updated_at, bot_id, url, host, kinds, signing, confirmed_at, due_at, not_before)
			SELECT gen_random_uuid(), stoa_now(), stoa_now(), $1, 'https://agent.example/', 'agent.example', '["order.rated"]', 'v1a', stoa_now(),
				stoa_now() - interval '1 hour', %s FROM generate_series(1, $2) RETURNING id
		) INSERT INTO pending_deliveries (webhook_id, event_id, kind, sequence, created_at, next_attempt_at)
		SELECT m.id, gen_random_uuid(), 'order.rated', 1, stoa_now(), stoa_now() - interval '1 hour' FROM made m, generate_series(1, 20)`, notBefore), of.ID, n)
	}
	insert(held, 150, "stoa_now() + interval '1 day'")
	insert(agent, 250, "NULL")
	var all []int
	seen := 0
	for range 6 {
		n := len(w.asked())
		all = append(all, n)
		seen += n
		require.LessOrEqual(t, n, 100)
	}
	require.Equal(t, 250, seen, "%v", all)
	require.Zero(t, w.Count("SELECT count(*) FROM webhooks WHERE due_at <= stoa_now()"))
}

// After any events in any order, every waiting delivery is checked in time: none is forgotten.
func TestNoDeliveryIsForgotten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rapid.Check(t, func(r *rapid.T) {
		agent := w.Agent()
		e := newEndpoint(t, nil)
		hooks := []*webhooks.Card{w.untested(agent, e.URL), w.hook(agent, e.URL)}
		for range rapid.IntRange(1, 8).Draw(r, "steps") {
			hook := hooks[rapid.IntRange(0, 1).Draw(r, "hook")]
			switch rapid.IntRange(0, 6).Draw(r, "step") {
			case 0:
				w.tell(agent)
			case 1:
				require.NoError(r, w.Webhooks.Queue(t.Context(), webhooks.Scope{Recent: true}))
			case 2:
				state := rapid.SampledFrom([]string{"active", "paused"}).Draw(r, "state")
				_, err := w.change(agent, hook.ID, webhooks.UpdateInput{State: &state})
				require.NoError(r, err)
			case 3:
				e.answers(status(rapid.SampledFrom([]int{200, 500, 503}).Draw(r, "status")))
			case 4:
				_, err := w.Webhooks.TestWebhook(agent.Ctx, webhooks.Input{WebhookID: hook.ID.String()})
				require.NoError(r, err)
			case 5:
				require.NoError(r, w.Webhooks.Deliver(t.Context(), hook.ID))
			case 6:
				w.Shift(time.Duration(rapid.IntRange(0, 600).Draw(r, "seconds")) * time.Second)
			}
		}
		e.answers(nil)
		for _, hook := range hooks {
			_, err := w.change(agent, hook.ID, webhooks.UpdateInput{State: graphtest.Ptr("active")})
			require.NoError(r, err)
		}
		w.tell(agent)
		w.Shift(11 * time.Minute) // the job that was added above and never ran counts as lost
		w.DeliverWebhooks()
		require.Empty(r, w.queue(agent))
		require.Zero(r, w.Count("SELECT count(*) FROM pending_deliveries p JOIN webhooks h ON h.id = p.webhook_id WHERE h.bot_id = $1 AND p.next_attempt_at <= stoa_now()", agent.ID))
	})
}
