package tasks_test

import (
	"fmt"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/tasks"
)

// The caller's own tasks, and no others, are listed in every state, or in the requested one.
func TestOwnTasks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	closed, given, open := w.task(), w.task(), w.Tasked(w.customer, "An ODE", "Of joy.", amount)
	graphtest.OK(t)(w.Tasks.CloseTask(w.customer.Ctx, naming(closed)))
	w.Selected(w.customer, given, w.Responded(w.responder, given.ID).ID)
	w.Tasked(w.responder, "Another's", "Ode.", amount)
	mine := func(by *graphtest.Agent, in tasks.TaskBoardInput) []uuid.UUID {
		in.Mine = page.Param{"true"}
		list := graphtest.Got(w.Tasks.TaskBoard(by.Ctx, in))(t)
		ids := []uuid.UUID{}
		for _, card := range list.Tasks {
			require.Equal(t, w.see(by.Ctx, card), card, "a list says the same")
			ids = append(ids, card.ID)
		}
		return ids
	}
	all := []uuid.UUID{open.ID, given.ID, closed.ID}
	require.Equal(t, all, mine(w.customer, tasks.TaskBoardInput{}))
	require.Equal(t, all[1:2], mine(w.customer, tasks.TaskBoardInput{PageSize: page.Param{"1"}, Page: page.Param{"2"}}))
	for state, id := range map[string]uuid.UUID{"open": open.ID, "selected": given.ID, "closed": closed.ID} {
		require.Equal(t, []uuid.UUID{id}, mine(w.customer, tasks.TaskBoardInput{State: page.Param{state}}))
	}
	require.Equal(t, all[:1], mine(w.customer, tasks.TaskBoardInput{Q: page.Param{"ode"}}))
	require.Empty(t, mine(w.customer, tasks.TaskBoardInput{Q: page.Param{"ode"}, State: page.Param{"closed"}}))
	require.Empty(t, mine(w.Agent(), tasks.TaskBoardInput{}))
	require.Empty(t, w.see(anonymous(), open).Actions)
	w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", w.customer.ID)
	require.Equal(t, all, mine(w.customer, tasks.TaskBoardInput{}), "from the trash, too")
	for _, sent := range []page.Param{{"false"}, {""}, {"TRUE"}, {"true", "true"}} {
		graphtest.RefusedField(t, fault.InvalidInput, "mine", sent)(w.Tasks.TaskBoard(w.customer.Ctx, tasks.TaskBoardInput{Mine: sent}))
	}
	graphtest.Refused(t, fault.Unauthorized)(w.Tasks.TaskBoard(anonymous(), tasks.TaskBoardInput{Mine: page.Param{"true"}}))
}

// Own responses are listed with their tasks, even if a task is closed, removed or deleted.
func TestOwnResponses(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second, removed := w.task(), w.Tasked(w.customer, "An ode", "Of joy.", amount), w.Tasked(w.customer, "Bad words", "Worse.", amount)
	mine := w.Responded(w.responder, first.ID)
	require.Equal(t, []*tasks.OwnResponseCard{{
		ResponseCard: *mine, Task: &tasks.AnsweredTask{ID: first.ID, Title: "A sonnet", State: "open", Deadline: first.Deadline},
	}}, w.own(w.responder))
	graphtest.OK(t)(w.Tasks.WithdrawResponse(w.responder.Ctx, namingResponse(mine)))
	w.Responded(w.responder, second.ID)
	w.Responded(w.responder, removed.ID)
	w.Responded(w.Agent(), second.ID)
	require.NoError(t, w.remove(removed.ID))
	titles := func() (all []string) {
		for _, r := range w.own(w.responder) {
			all = append(all, fmt.Sprint(r.Task.Title, ", ", r.Task.State, ": ", r.State))
		}
		return all
	}
	require.Equal(t, []string{"deleted, closed: declined", "An ode, open: open", "A sonnet, open: withdrawn"}, titles())
	w.Exec("UPDATE responses SET text = '' WHERE task_id = $1", removed.ID)
	require.Equal(t, "deleted", w.own(w.responder)[0].Text, "a text that was erased")
	require.Empty(t, w.own(w.customer))
	before := func(id string) tasks.OwnResponsesInput { return tasks.OwnResponsesInput{Before: page.Param{id}} }
	graphtest.Refused(t, fault.InvalidID)(w.Tasks.ListOwnResponses(w.responder.Ctx, before("x")))
	graphtest.Refused(t, fault.NotFound)(w.Tasks.ListOwnResponses(w.customer.Ctx, before(mine.ID.String())))
	require.Empty(t, graphtest.Got(w.Tasks.ListOwnResponses(w.responder.Ctx, before(mine.ID.String())))(t).Responses)
}

func TestOwnResponsesPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Exec(`WITH made AS (
		INSERT INTO tasks (id, created_at, updated_at, customer_id, title, description, deadline, amount_minor, fee_minor, total_minor, fee_bps)
		SELECT gen_random_uuid(), stoa_now(), stoa_now(), $1, 'n' || n, 'x', stoa_now(), 1, 0, 1, 0 FROM generate_series(1, 250) AS n RETURNING id, title)
		INSERT INTO responses (id, created_at, task_id, bot_id, text, amount_minor, total_minor)
		SELECT gen_random_uuid(), stoa_now() + substr(title, 2)::int / 3 * interval '1 second', id, $2, title, 1, 1 FROM made`, w.customer.ID, w.responder.ID)
	requirePages(t, func(before page.Param) (all []*tasks.ResponseCard, next *uuid.UUID) {
		list := graphtest.Got(w.Tasks.ListOwnResponses(w.responder.Ctx, tasks.OwnResponsesInput{Before: before}))(t)
		for _, r := range list.Responses {
			require.Equal(t, r.Text, r.Task.Title)
			all = append(all, &r.ResponseCard)
		}
		return all, list.NextBefore
	})
}

// Customers get an event for each response, and authors one when theirs is settled; connections of version 1 see none of them.
func TestBoardEvents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var woken []uuid.UUID
	w.Events.Wake = func(recipients []uuid.UUID) { woken = append(woken, recipients...) }
	other, quitter := w.Agent(), w.Agent()
	given, shut, gone := w.task(), w.task(), w.task()
	payload := func(format string, ids ...any) string { return fmt.Sprintf(format, ids...) }
	var responded []string
	respond := func(by *graphtest.Agent, task *tasks.Card) *tasks.ResponseCard {
		r := w.Responded(by, task.ID)
		responded = append(responded, payload(`{"task_id":"%s","response_id":"%s","bot_id":"%s"}`, task.ID, r.ID, by.ID))
		require.Equal(t, []uuid.UUID{w.customer.ID}, woken)
		woken = nil
		return r
	}
	chosen, passed, left := respond(w.responder, given), respond(other, given), respond(quitter, given)
	late, last := respond(w.responder, shut), respond(w.responder, gone)
	require.Equal(t, responded, w.payloads(w.customer, events.TaskResponded))
	graphtest.OK(t)(w.Tasks.WithdrawResponse(quitter.Ctx, namingResponse(left)))
	require.Empty(t, woken)

	order := w.Selected(w.customer, given, chosen.ID)
	require.ElementsMatch(t, []uuid.UUID{w.responder.ID, other.ID, w.customer.ID, w.responder.ID}, woken)
	declined := func(r *tasks.ResponseCard) string {
		return payload(`{"task_id":"%s","response_id":"%s"}`, r.TaskID, r.ID)
	}
	require.Equal(t, []string{payload(`{"task_id":"%s","response_id":"%s","order_id":"%s"}`, given.ID, chosen.ID, order.ID)},
		w.payloads(w.responder, events.TaskSelected))
	require.Equal(t, []string{declined(passed)}, w.payloads(other, events.TaskDeclined))
	require.Empty(t, w.payloads(w.responder, events.TaskDeclined))
	for range 2 { // a repeat sends nothing
		graphtest.OK(t)(w.Tasks.CloseTask(w.customer.Ctx, naming(shut)))
	}
	require.NoError(t, w.remove(gone.ID))
	require.Equal(t, []string{declined(late), declined(last)}, w.payloads(w.responder, events.TaskDeclined))
	require.NoError(t, w.remove(given.ID), "a task that was given away is settled")
	require.Len(t, w.payloads(w.responder, events.TaskDeclined), 2)
	require.Empty(t, w.payloads(quitter, events.TaskDeclined))
	for _, agent := range []*graphtest.Agent{w.customer, w.responder, other, quitter} {
		for _, e := range graphtest.Got(w.Events.PollEvents(agent.Ctx, events.PollInput{}))(t).Events {
			require.Equal(t, "order.changed", e.Kind)
		}
	}
}
