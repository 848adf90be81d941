package webhooks_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/webhooks"
)

// class is the class of a job, and the webhook that it is for.
func class(job db.Job) (webhooks.Class, uuid.UUID) {
	switch job := job.(type) {
	case webhooks.DeliverJob:
		return webhooks.Light, job.WebhookID
	case webhooks.DeliverBusyJob:
		return webhooks.Busy, job.WebhookID
	case webhooks.DeliverSlowJob:
		return webhooks.Slow, job.WebhookID
	default:
		panic(fmt.Sprintf("%T", job))
	}
}

// forget is as if no job had been asked for.
func (w *world) forget() {
	w.t.Helper()
	w.AskedJobs()
	w.Exec("UPDATE webhooks SET queued_until = NULL, due_at = stoa_now()")
}

// asked are the jobs that the queue asks for, by webhook.
func (w *world) asked() map[uuid.UUID]webhooks.Class {
	w.t.Helper()
	require.NoError(w.t, w.Webhooks.Queue(w.t.Context(), webhooks.Scope{}))
	all := map[uuid.UUID]webhooks.Class{}
	for _, job := range w.AskedJobs() {
		c, id := class(job)
		all[id] = c
	}
	return all
}

// Who answers in time and has taken little of it lately is light, who takes more is busy, until that has worn off, and who does not
// answer in time, or has not shown so, is slow.
func TestClasses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	hook := w.hook(agent, "https://agent.example/")
	w.tell(agent)
	for _, c := range []struct {
		prompt     bool
		took, used float64
		want       webhooks.Class
	}{
		{false, 0, 0, webhooks.Slow}, {false, 0, 9, webhooks.Slow}, {true, 0, 0, webhooks.Light}, {true, 0.9, 0, webhooks.Light},
		{true, 1.9, 0, webhooks.Busy}, {true, 0.1, 0.8, webhooks.Light}, {true, 0.1, 2, webhooks.Busy}, {true, 0, 100, webhooks.Busy},
	} {
		w.Exec("UPDATE webhooks SET prompt = $1, took_seconds = $2, queued_until = NULL, due_at = stoa_now()", c.prompt, c.took)
		w.Exec(`INSERT INTO webhook_time VALUES ($1, $2, stoa_now()) ON CONFLICT (bot_id) DO UPDATE SET used_seconds = $2, noted_at = stoa_now()`,
			agent.ID, c.used)
		require.Equal(t, map[uuid.UUID]webhooks.Class{hook.ID: c.want}, w.asked(), "%+v", c)
	}
	w.Shift(40 * time.Minute) // a twentieth of it wears off
	w.Exec("UPDATE webhooks SET queued_until = NULL, due_at = stoa_now()")
	require.Equal(t, map[uuid.UUID]webhooks.Class{hook.ID: webhooks.Light}, w.asked())
	w.Exec("UPDATE webhooks SET prompt = false")
	require.NoError(t, w.Webhooks.Deliver(t.Context(), hook.ID, webhooks.Light))
	require.Equal(t, map[uuid.UUID]webhooks.Class{hook.ID: webhooks.Slow}, w.asked(), "the light workers leave it to the others")
}

// The priority of a job is the lower the more time the agent has taken.
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
		require.Equal(t, c.want, asked[0].(interface{ Priority() int }).Priority(), "%+v", c)
	}
}

// Of an agent's webhooks whose endpoints answer in time one is served at a time, each in turn, however the queue is asked; slow ones
// are served beside it.
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
	require.Equal(t, webhooks.Slow, first[ids[2]])
	require.Contains(t, first, theirs)
	for range 3 {
		w.Shift(time.Second)
		require.Empty(t, w.asked(), "one is queued")
	}
	served, waits := ids[0], ids[1]
	if _, queued := first[served]; !queued {
		served, waits = waits, served
	}
	w.Exec("UPDATE webhooks SET claimed_until = stoa_now() + interval '1 minute', queued_until = NULL WHERE id = $1", served)
	require.NoError(t, w.Webhooks.Deliver(t.Context(), waits, webhooks.Light))
	require.NoError(t, w.Webhooks.Deliver(t.Context(), waits, webhooks.Busy))
	require.Empty(t, e.take(), "the other is being served")
	w.Exec("UPDATE webhooks SET claimed_until = NULL WHERE id = $1", served)
	require.NoError(t, w.Webhooks.Deliver(t.Context(), waits, webhooks.Light))
	require.Len(t, e.take(), 1)
}

// A look of the queue is at a hundred webhooks at most, and those at which nothing can be done are not in the way of the others.
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

// Whatever happens in whatever order, what waits is looked at in time: no delivery is forgotten.
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
				require.NoError(r, w.Webhooks.Deliver(t.Context(), hook.ID, webhooks.Class(rapid.IntRange(0, 2).Draw(r, "class"))))
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
		w.Shift(11 * time.Minute) // a job that was asked for above and never ran is believed in no longer
		w.DeliverWebhooks()
		require.Empty(r, w.queue(agent))
		require.Zero(r, w.Count("SELECT count(*) FROM pending_deliveries p JOIN webhooks h ON h.id = p.webhook_id WHERE h.bot_id = $1 AND p.next_attempt_at <= stoa_now()", agent.ID))
	})
}
