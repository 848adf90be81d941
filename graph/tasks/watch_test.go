package tasks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
	"stoa/graph/tasks"
)

// watch makes an agent watch for new tasks that contain q, with a reward of at least least, or any reward if that is 0.
func (w *world) watch(by *graphtest.Agent, q string, least int64) {
	in := tasks.WatchInput{Q: &q}
	if least > 0 {
		in.MinAmountMinor = &least
	}
	graphtest.OK(w.t)(w.Tasks.WatchTasks(by.Ctx, in))
}

// announced runs the job of a task, and returns the number of an agent's events that name the task.
func (w *world) announced(task *tasks.Card, to *graphtest.Agent) int {
	require.NoError(w.t, w.Tasks.Announce(w.t.Context(), task.ID))
	return int(w.Count("SELECT count(*) FROM events WHERE kind = 'task.posted' AND recipient_id = $1 AND convert_from(payload, 'UTF8') = $2",
		to.ID, fmt.Sprintf(`{"task_id":"%s"}`, task.ID)))
}

func TestAnAgentHasOneWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.Tasks.TaskWatch(w.responder.Ctx)
	require.Equal(t, "You watch for no tasks.", graphtest.RequireFault(t, err, fault.NotFound).Text())
	for _, wrong := range []tasks.WatchInput{{}, {Q: ptr(strings.Repeat("é", 161))}, {Q: ptr("\x00")}, {Q: ptr(""), MinAmountMinor: graphtest.Ptr[int64](0)}} {
		graphtest.Refused(t, fault.InvalidInput)(w.Tasks.WatchTasks(w.responder.Ctx, wrong))
	}
	w.watch(w.responder, "Ode", 5)
	w.watch(w.responder, strings.Repeat("é", 160), 0)
	found := graphtest.Got(w.Tasks.TaskWatch(w.responder.Ctx))(t)
	require.Equal(t, strings.Repeat("é", 160), found.Watch.Q)
	require.Nil(t, found.Watch.MinAmountMinor)
	for range 2 {
		graphtest.OK(t)(w.Tasks.UnwatchTasks(w.responder.Ctx))
	}
	graphtest.Refused(t, fault.NotFound)(w.Tasks.TaskWatch(w.responder.Ctx))
}

// The transaction that posts a task enqueues its job, and the job notifies each watcher once, however often it runs.
func TestANewTaskIsAnnouncedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.watch(w.responder, "SONNET", amount)
	w.watch(w.customer, "", 0)
	task := w.task()
	require.Contains(t, w.AskedJobs(), tasks.AnnounceJob{TaskID: task.ID})
	require.Empty(t, w.payloads(w.responder, events.TaskPosted), "posting does not wait for the job")
	codes := graphtest.AtOnce(4, func(int) error { return w.Tasks.Announce(t.Context(), task.ID) })
	require.Equal(t, map[fault.Code]int{"": 4}, codes.Count())
	require.Equal(t, 1, w.announced(task, w.responder))
	require.Zero(t, w.announced(task, w.customer), "it is the customer's own")
	require.NoError(t, w.Tasks.Announce(t.Context(), uuid.New()))
	require.Zero(t, w.Count("SELECT count(*) FROM posted_tasks"))
}

// A job that dies before its end has notified no watcher; its next attempt does.
func TestAJobThatDiesIsRepeated(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.watch(w.responder, "", 0)
	task := w.task()
	w.Exec(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'dies'; END $$;
		CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON events DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.kind = 'task.posted') EXECUTE FUNCTION die()`)
	require.Error(t, w.Tasks.Announce(t.Context(), task.ID))
	w.Exec("DROP TRIGGER dies ON events")
	require.Equal(t, 1, w.announced(task, w.responder))
	require.Equal(t, 1, w.announced(task, w.responder))
}

// More watchers than one transaction notifies get one event each, even if the job dies between two transactions.
func TestManyWatchersGetTheTask(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	watchers(w, 1500, "''")
	task := w.task()
	w.Exec(`CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			IF NEW.recipient_id = (SELECT bot_id FROM task_watches ORDER BY bot_id DESC LIMIT 1) THEN RAISE EXCEPTION 'dies'; END IF;
			RETURN NULL;
		END $$;
		CREATE TRIGGER die AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION die()`)
	sent := func() int64 {
		return w.Count("SELECT count(DISTINCT recipient_id) FROM events WHERE kind = 'task.posted'")
	}
	require.Error(t, w.Tasks.Announce(t.Context(), task.ID))
	require.EqualValues(t, 1000, sent())
	w.Exec("DROP TRIGGER die ON events")
	require.NoError(t, w.Tasks.Announce(t.Context(), task.ID))
	require.EqualValues(t, 1500, sent())
	require.EqualValues(t, 1500, w.Count("SELECT count(*) FROM events WHERE kind = 'task.posted'"))
	require.Zero(t, w.Count("SELECT count(*) FROM posted_tasks"))
}

// watchers makes agents that watch for q, an expression of their number n.
func watchers(w *world, count int, q string) {
	w.Exec(`INSERT INTO bots (id, created_at, updated_at, last_active_at, handle, display_name, encryption_public_key)
		SELECT gen_random_uuid(), now(), now(), now(), 'watcher_' || n, 'W', sha256(n::text::bytea) FROM generate_series(1, $1::int) AS n`, count)
	w.Exec(`INSERT INTO task_watches SELECT id, q, q, 1, now() FROM (
		SELECT id, ` + q + ` AS q FROM (SELECT id, row_number() OVER () AS n FROM bots WHERE handle LIKE 'watcher%') b) b`)
}

// Only agents that may take on obligations are notified, of matching tasks still on the board, and not across a block.
func TestAgentsThatGetNoTask(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world, task *tasks.Card){
		"a reward that is too low":      func(w *world, _ *tasks.Card) { w.watch(w.responder, "", amount+1) },
		"a text that it does not hold":  func(w *world, _ *tasks.Card) { w.watch(w.responder, "sonnets", 0) },
		"a watch that ended":            func(w *world, _ *tasks.Card) { graphtest.OK(w.t)(w.Tasks.UnwatchTasks(w.responder.Ctx)) },
		"the watcher is blocked":        func(w *world, _ *tasks.Card) { w.blocked(w.customer, w.responder) },
		"the customer is blocked":       func(w *world, _ *tasks.Card) { w.blocked(w.responder, w.customer) },
		"a task that is closed":         func(w *world, task *tasks.Card) { graphtest.OK(w.t)(w.Tasks.CloseTask(w.customer.Ctx, naming(task))) },
		"a task that operators removed": func(w *world, task *tasks.Card) { require.NoError(w.t, w.remove(task.ID)) },
		"a customer who is suspended":   func(w *world, _ *tasks.Card) { w.Exec(inactive["suspended"], w.customer.ID) },
		"a watcher in the trash":        func(w *world, _ *tasks.Card) { w.Exec(inactive["trash"], w.responder.ID) },
		"a watcher who is suspended":    func(w *world, _ *tasks.Card) { w.Exec(inactive["suspended"], w.responder.ID) },
		"a watcher who is restricted":   func(w *world, _ *tasks.Card) { w.Exec(inactive["restricted"], w.responder.ID) },
		"a watcher who is to be erased": func(w *world, _ *tasks.Card) {
			w.Exec("UPDATE bots SET erasure_requested_at = stoa_now() WHERE id = $1", w.responder.ID)
		},
		"a watcher who has been deleted": func(w *world, _ *tasks.Card) { w.Exec("SELECT stoa_erase_bot($1)", w.responder.ID) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.watch(w.responder, "sonnet", amount)
			task := w.task()
			change(w, task)
			require.Zero(t, w.announced(task, w.responder))
		})
	}
}

// The watch of an agent in the trash stays, and matches new tasks again once the agent is restored.
func TestAWatchOutlivesTheTrash(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.watch(w.responder, "sonnet", 0)
	w.Exec(inactive["trash"], w.responder.ID)
	require.Zero(t, w.announced(w.task(), w.responder))
	w.Exec("UPDATE bots SET state = 'active' WHERE id = $1", w.responder.ID)
	require.Equal(t, 1, w.announced(w.task(), w.responder))
	w.Exec("SELECT stoa_erase_content($1, false)", w.responder.ID)
	require.Zero(t, w.Count("SELECT count(*) FROM task_watches"), "an erasure takes it")
}

func TestWatchersGetFewTasksAnHour(t *testing.T) {
	t.Parallel()
	w := newWorld(t, graphtest.WithQuotas(limits.Quotas{WatchEventsPerHour: 2}))
	w.watch(w.responder, "", 0)
	for range 4 {
		w.announced(w.task(), w.responder)
	}
	w.watch(w.responder, "s", 0) // another watch has no other limit
	w.announced(w.task(), w.responder)
	require.EqualValues(t, 2, w.Count("SELECT count(*) FROM events WHERE kind = 'task.posted'"))
}

// A watch matches the tasks that the board's q finds.
func TestAWatchMatchesTheBoardsSearch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	rapid.Check(t, func(rt *rapid.T) {
		description := graphtest.SearchedText(1).Draw(rt, "description")
		task := w.Tasked(w.customer, "x", description, 1)
		q := graphtest.SearchQuery(rt, "x", description)
		in := tasks.WatchInput{Q: &q}
		graphtest.OK(rt)(w.Tasks.WatchTasks(w.responder.Ctx, in))
		found := w.Count("SELECT count(*) FROM tasks WHERE id = $1 AND strpos(folded, stoa_fold($2)) > 0", task.ID, q)
		require.EqualValues(rt, found, w.announced(task, w.responder), "%q in %q", q, description)
	})
}

// Among more watches than are read one by one, the ones that begin with a part of the text are found: long, short and empty ones.
func TestAWatchIsFoundAmongMany(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	watchers(w, 4000, "'nothing like it'")
	for _, q := range []string{"sonnet", "nne", "s", ""} {
		w.watch(w.responder, q, 0)
		require.Equal(t, 1, w.announced(w.task(), w.responder), q)
	}
	w.watch(w.responder, "sonnets", 0)
	require.Zero(t, w.announced(w.task(), w.responder))
	require.EqualValues(t, 4, w.Count("SELECT count(*) FROM events WHERE kind = 'task.posted'"))
}
