package tasks_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/tasks"
)

func TestRespondChecksInOrder(t *testing.T) {
	t.Parallel()
	for name, disable := range inactive {
		for _, who := range []string{"customer", "responder"} {
			t.Run(name+" "+who, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				task := w.task()
				in := answer(task, "")
				in.TaskID, in.AmountMinor = "x", graphtest.Ptr[int64](909_090_909_092)
				respond := func(by *graphtest.Agent) error { return graphtest.Err(w.Tasks.RespondToTask(by.Ctx, in)) }
				// At first every check fails; the faults are removed one by one.
				w.Exec(disable, map[string]uuid.UUID{"customer": w.customer.ID, "responder": w.responder.ID}[who])
				w.Exec("UPDATE tasks SET state = 'closed', deadline = stoa_now(), removed_at = stoa_now()")
				graphtest.RequireFault(t, respond(w.responder), fault.InvalidID)
				in.TaskID = task.ID.String()
				require.Contains(t, graphtest.RequireFault(t, respond(w.responder), fault.InvalidInput).Fields, "text")
				in.Text = ptr("I")
				graphtest.RequireFault(t, respond(w.responder), fault.NotFound)
				w.Exec("UPDATE tasks SET removed_at = NULL")
				require.Contains(t, graphtest.RequireFault(t, respond(w.customer), fault.InvalidInput).Fields, "amount_minor")
				*in.AmountMinor = 909_090_909_091
				graphtest.RequireFault(t, respond(w.customer), fault.Forbidden)
				w.blocked(w.customer, w.responder)
				graphtest.RequireFault(t, respond(w.customer), fault.Forbidden)
				graphtest.RequireFault(t, respond(w.responder), fault.ContactBlocked)
				w.Exec("DELETE FROM contacts")
				graphtest.RequireFault(t, respond(w.responder), fault.StateConflict)
				w.Exec("UPDATE tasks SET state = 'open'")
				graphtest.RequireFault(t, respond(w.responder), fault.ParticipantInactive)
				w.Exec("UPDATE bots SET state = 'active', suspended_at = NULL, email_verified_at = stoa_now()")
				graphtest.RequireFault(t, respond(w.responder), fault.DeadlinePassed)
				require.Zero(t, w.Count("SELECT count(*) + (SELECT response_count FROM tasks) FROM responses"))
				w.Exec("UPDATE tasks SET deadline = $1", w.Now().Add(time.Hour))
				require.NoError(t, respond(w.responder))
				require.Equal(t, 1, w.see(anonymous(), task).ResponseCount)
			})
		}
	}
}

// A repeat gets the existing response in any state of the task and its participants; any other response conflicts.
func TestRepeatedResponse(t *testing.T) {
	t.Parallel()
	w, task := newTask(t)
	in := answer(task, "I")
	in.AmountMinor = graphtest.Ptr(amount)
	first := graphtest.Got(w.Tasks.RespondToTask(w.responder.Ctx, in))(t)
	require.False(t, first.IsRepeat())
	again := func(state string) {
		t.Helper()
		for _, sent := range []tasks.RespondInput{in, answer(task, "I")} {
			repeat := graphtest.Got(w.Tasks.RespondToTask(w.responder.Ctx, sent))(t)
			require.True(t, repeat.IsRepeat())
			expected := *first.Response
			expected.State, expected.UpdatedAt = state, repeat.Response.UpdatedAt
			require.Equal(t, &expected, repeat.Response)
		}
		_, err := w.Tasks.RespondToTask(w.responder.Ctx, answer(task, "i"))
		said := graphtest.RequireFault(t, err, fault.StateConflict).Text()
		require.Contains(t, said, "responded to this task already")
		require.Equal(t, state == "open", strings.Contains(said, "PATCH /api/v1/tasks/{task_id}/responses/{response_id}"), said)
		changed := in
		changed.AmountMinor = graphtest.Ptr(amount + 1)
		graphtest.Refused(t, fault.StateConflict)(w.Tasks.RespondToTask(w.responder.Ctx, changed))
	}
	again("open")
	w.Shift(48 * time.Hour)
	again("open")
	w.Shift(-48 * time.Hour)
	w.Selected(w.customer, task, first.Response.ID)
	again("selected")
	w.Exec("UPDATE bots SET state = 'trash'")
	again("selected")
	require.NoError(t, w.remove(task.ID))
	again("selected")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM responses"))
	require.EqualValues(t, 1, w.Count("SELECT response_count FROM tasks"))
}

func TestResponsesArePrivate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	other, outsider := w.Agent(), w.Agent()
	task, another := w.task(), w.task()
	mine, theirs, elsewhere := w.Responded(w.responder, task.ID), w.Responded(other, task.ID), w.Responded(other, another.ID)
	require.Equal(t, []*tasks.ResponseCard{theirs, mine}, w.responses(w.customer, task))
	require.Equal(t, []*tasks.ResponseCard{mine}, w.responses(w.responder, task))
	require.Equal(t, []*tasks.ResponseCard{theirs}, w.responses(other, task))
	list := func(by *graphtest.Agent, task, before string) (*tasks.ResponseList, error) {
		return w.Tasks.TaskResponses(by.Ctx, tasks.TaskResponsesInput{TaskID: task, Before: page.Param{before}})
	}
	for _, c := range []struct {
		by           *graphtest.Agent
		task, before string
		code         fault.Code
	}{
		{outsider, task.ID.String(), mine.ID.String(), fault.NotFound},
		{w.responder, another.ID.String(), elsewhere.ID.String(), fault.NotFound},
		{w.responder, task.ID.String(), theirs.ID.String(), fault.NotFound},
		{w.customer, task.ID.String(), elsewhere.ID.String(), fault.NotFound},
		{w.customer, task.ID.String(), uuid.NewString(), fault.NotFound},
		{w.customer, uuid.NewString(), mine.ID.String(), fault.NotFound},
		{w.customer, "x", mine.ID.String(), fault.InvalidID},
		{w.customer, task.ID.String(), "x", fault.InvalidID},
	} {
		graphtest.Refused(t, c.code)(list(c.by, c.task, c.before))
	}
	older := graphtest.Got(list(w.customer, task.ID.String(), theirs.ID.String()))(t)
	require.Equal(t, []*tasks.ResponseCard{mine}, older.Responses)
	older = graphtest.Got(list(w.responder, task.ID.String(), mine.ID.String()))(t)
	require.Empty(t, older.Responses)
}

func TestResponsesPage(t *testing.T) {
	t.Parallel()
	w, task := newTask(t)
	w.Exec(`WITH made AS (
		INSERT INTO bots (id, created_at, updated_at, last_active_at, handle, display_name, specialty, bio, encryption_public_key)
		SELECT gen_random_uuid(), stoa_now(), stoa_now(), stoa_now(), 'bot_' || n, 'Bot', '', '', sha256(n::text::bytea) FROM generate_series(1, 250) AS n
		RETURNING id, handle)
		INSERT INTO responses (id, created_at, task_id, bot_id, text, amount_minor, total_minor)
		SELECT gen_random_uuid(), stoa_now() + substr(handle, 5)::int / 3 * interval '1 second', $1, id, handle, 1, 1 FROM made`, task.ID)
	requirePages(t, func(before page.Param) ([]*tasks.ResponseCard, *uuid.UUID) {
		list := graphtest.Got(w.Tasks.TaskResponses(w.customer.Ctx, tasks.TaskResponsesInput{TaskID: task.ID.String(), Before: before}))(t)
		return list.Responses, list.NextBefore
	})
}

// requirePages requires that a list of 250 responses has each once, newest first, in pages of a hundred.
func requirePages(t *testing.T, read func(before page.Param) ([]*tasks.ResponseCard, *uuid.UUID)) {
	t.Helper()
	seen := map[uuid.UUID]bool{}
	var (
		before page.Param
		last   time.Time
	)
	for _, size := range []int{100, 100, 50} {
		list, next := read(before)
		require.Len(t, list, size)
		for _, r := range list {
			require.False(t, seen[r.ID])
			require.False(t, !last.IsZero() && r.CreatedAt.After(last), "newest first")
			seen[r.ID], last = true, r.CreatedAt
		}
		require.Equal(t, size < 100, next == nil)
		if next != nil {
			before = page.Param{next.String()}
		}
	}
}

// Neither the two lists nor a block read the responses that others have withdrawn, also with the plans that a connection keeps.
func TestWithdrawnResponsesCostNothing(t *testing.T) {
	t.Parallel()
	w, task := newTask(t)
	other := w.Agent()
	mine, theirs := w.Responded(w.responder, task.ID), w.Responded(other, task.ID)
	w.Exec(`INSERT INTO responses (id, created_at, updated_at, task_id, bot_id, text, amount_minor, total_minor, state)
		SELECT gen_random_uuid(), stoa_now(), stoa_now(), $1, $2, 'x', 1, 1, 'withdrawn' FROM generate_series(1, 10000)`, task.ID, other.ID)
	w.Exec(`INSERT INTO responses (id, created_at, updated_at, task_id, bot_id, text, amount_minor, total_minor, state)
		SELECT gen_random_uuid(), stoa_now(), stoa_now(), $1, $2, 'x', 1, 1, 'withdrawn' FROM generate_series(1, 10000)`, w.task().ID, w.responder.ID)
	w.Exec("ANALYZE responses")
	read := func(statement string, args ...any) int64 {
		return w.RowsReadBy("responses", func(on db.Querier) error {
			if _, err := on.ExecContext(t.Context(), "SET LOCAL plan_cache_mode = force_generic_plan"); err != nil {
				return err
			}
			return db.Exec(t.Context(), on, graphtest.Statement(statement), args...)
		})
	}
	const few = 2 * 3 // each of two in the page, as a card, and once more by some plans
	require.LessOrEqual(t, read("list_responses", task.ID, nil, nil, 101), int64(few))
	require.LessOrEqual(t, read("list_responses", task.ID, nil, w.responder.ID, 101), int64(few))
	require.LessOrEqual(t, read("decline_between", w.customer.ID, other.ID), int64(few))
	require.Equal(t, []*tasks.ResponseCard{theirs, mine}, w.responses(w.customer, task))
	require.Equal(t, []*tasks.ResponseCard{mine}, w.responses(w.responder, task))
}
