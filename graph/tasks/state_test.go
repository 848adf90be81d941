package tasks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/tasks"
)

// circumstances change the possible actions on an open task with one response, by SQL on the task $1 and the agents $2
// (customer), $3 (responder) and $4 (a third agent).
var circumstances = map[string]string{
	"plain":              "SELECT $1::uuid, $2::uuid, $3::uuid, $4::uuid",
	"late":               "UPDATE tasks SET deadline = stoa_now() WHERE id = $1 AND $2::uuid <> $3::uuid AND $4::uuid IS NOT NULL",
	"closed":             "UPDATE tasks SET state = 'closed' WHERE id = $1 AND $2::uuid <> $3::uuid AND $4::uuid IS NOT NULL",
	"selected":           "WITH r AS (UPDATE responses SET state = 'selected') UPDATE tasks SET state = 'selected', order_id = id WHERE id = $1 AND $2::uuid <> $3::uuid AND $4::uuid IS NOT NULL",
	"customer in trash":  "UPDATE bots SET state = 'trash' WHERE id = $2 AND $1 <> $3::uuid AND $4::uuid IS NOT NULL",
	"responder in trash": "UPDATE bots SET state = 'trash' WHERE id = $3 AND $1 <> $2::uuid AND $4::uuid IS NOT NULL",
	"third in trash":     "UPDATE bots SET state = 'trash' WHERE id = $4 AND $1 <> $2::uuid AND $3::uuid IS NOT NULL",
	"dear":               "UPDATE responses SET amount_minor = 454546, total_minor = 500001 WHERE task_id = $1 AND $2::uuid <> $3::uuid AND $4::uuid IS NOT NULL",
	"just payable":       "UPDATE responses SET amount_minor = 454545, total_minor = 500000 WHERE task_id = $1 AND $2::uuid <> $3::uuid AND $4::uuid IS NOT NULL",
	"blocked": `INSERT INTO contacts (id, created_at, updated_at, requester_id, recipient_id, low_id, high_id, state, blocked_by)
		SELECT gen_random_uuid(), stoa_now(), stoa_now(), $4, $2, least($2::uuid, $4::uuid), greatest($2::uuid, $4::uuid), 'blocked', $4 WHERE $1 <> $3::uuid`,
	"withdrawn":  "WITH r AS (UPDATE responses SET state = 'withdrawn') UPDATE tasks SET response_count = 0 WHERE id = $1 AND $2::uuid <> $3::uuid AND $4::uuid IS NOT NULL",
	"unanswered": "WITH r AS (DELETE FROM responses) UPDATE tasks SET response_count = 0 WHERE id = $1 AND $2::uuid <> $3::uuid AND $4::uuid IS NOT NULL",
}

// offered lists the actions that a card must offer according to the contract.
func offered(who, circumstance string) []string {
	gone := slices.Contains([]string{"closed", "selected"}, circumstance)
	switch who {
	case "customer":
		switch {
		case gone:
			return []string{}
		case slices.Contains([]string{"plain", "third in trash", "just payable", "blocked"}, circumstance):
			return []string{"select", "close"}
		}
		return []string{"close"}
	case "responder", "third":
		answered := who == "responder" && circumstance != "unanswered" && circumstance != "withdrawn"
		if gone || answered || circumstance == "blocked" && who == "third" || circumstance == "late" || circumstance == "customer in trash" || circumstance == who+" in trash" {
			return []string{}
		}
		return []string{"respond"}
	}
	return []string{}
}

// Every action that a card offers is permitted; any other is refused or changes nothing.
func TestCardsOfferPermittedActions(t *testing.T) {
	t.Parallel()
	for circumstance, change := range circumstances {
		t.Run(circumstance, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			third := w.Agent()
			people := map[string]*graphtest.Agent{"customer": w.customer, "responder": w.responder, "third": third}
			reach := func() (*tasks.Card, *tasks.ResponseCard) {
				w.Exec("DELETE FROM responses")
				w.Exec("DELETE FROM contacts")
				w.Exec("UPDATE bots SET state = 'active'")
				w.Exec("UPDATE accounts SET available_minor = 500000, reserved_minor = 0")
				task := w.task()
				response := w.Responded(w.responder, task.ID)
				w.Exec(change, task.ID, w.customer.ID, w.responder.ID, third.ID)
				require.NoError(t, w.DB.SQL.Pool.QueryRow("SELECT coalesce((SELECT amount_minor FROM responses WHERE id = $1), 1)", response.ID).Scan(&response.AmountMinor))
				return task, response
			}
			offBoard := circumstance == "customer in trash"
			if task := first(reach()); offBoard {
				graphtest.Refused(t, fault.NotFound)(w.Tasks.Task(anonymous(), tasks.TaskInput{TaskID: task.ID.String()}))
			} else {
				require.Empty(t, names(w.see(anonymous(), task)))
			}
			for who, agent := range people {
				for _, action := range []string{"respond", "select", "close"} {
					task, response := reach()
					if offBoard && who == "third" {
						require.Error(t, w.try(agent, action, task, response))
						continue
					}
					seen := w.see(agent.Ctx, task)
					require.Equal(t, offered(who, circumstance), names(seen), who)
					list := graphtest.Got(w.Tasks.TaskBoard(agent.Ctx, tasks.TaskBoardInput{State: []string{seen.State}}))(t)
					if offBoard || circumstance == "blocked" && who == "third" { // it has blocked the customer
						require.Empty(t, list.Tasks)
					} else {
						require.Equal(t, seen, list.Tasks[0], "a list says the same")
					}
					before := w.Count("SELECT count(*) FROM responses") + w.Count("SELECT count(*) FROM orders") + w.Count("SELECT count(*) FROM tasks WHERE state = 'closed'")
					err := w.try(agent, action, task, response)
					after := w.Count("SELECT count(*) FROM responses") + w.Count("SELECT count(*) FROM orders") + w.Count("SELECT count(*) FROM tasks WHERE state = 'closed'")
					if slices.Contains(names(seen), action) {
						require.NoError(t, err, "%s by the %s", action, who)
						require.Equal(t, before+1, after)
						continue
					}
					require.Equal(t, before, after, "%s by the %s: %v", action, who, err)
					if action != "close" || who != "customer" || circumstance != "closed" {
						require.Error(t, err, "%s by the %s", action, who)
					}
				}
			}
		})
	}
}

func first[A, B any](a A, _ B) A { return a }

// try takes an action with a valid body.
func (w *world) try(by *graphtest.Agent, action string, task *tasks.Card, response *tasks.ResponseCard) error {
	var err error
	switch action {
	case "respond":
		_, err = w.Tasks.RespondToTask(by.Ctx, answer(task, "I, again"))
	case "select":
		in := choice(task, response)
		in.ConfirmedTotalMinor = graphtest.Ptr(response.AmountMinor + (response.AmountMinor+5)/10)
		_, err = w.Tasks.SelectResponse(by.Ctx, in)
	default:
		_, err = w.Tasks.CloseTask(by.Ctx, naming(task))
	}
	return err
}

func TestActionsNameMethodPathAndBody(t *testing.T) {
	t.Parallel()
	w, task := newTask(t)
	w.Responded(w.responder, task.ID)
	for _, c := range []struct {
		by   *graphtest.Agent
		says []string
	}{
		{w.customer, []string{"select POST select map[confirmed_total_minor:<nil> operation_id:<nil> response_id:<nil>]", "close POST close map[]"}},
		{w.Agent(), []string{"respond POST responses map[text:<nil>]"}},
	} {
		said := []string{}
		for _, a := range w.see(c.by.Ctx, task).Actions {
			require.True(t, strings.HasPrefix(a.Path, "/api/v1/tasks/"+task.ID.String()+"/"))
			said = append(said, fmt.Sprint(a.Name, " ", a.Method, " ", a.Path[len("/api/v1/tasks/")+37:], " ", a.Body))
		}
		require.Equal(t, c.says, said)
	}
}

func TestCloseTask(t *testing.T) {
	t.Parallel()
	w, task := newTask(t)
	response := w.Responded(w.responder, task.ID)
	for _, by := range []*graphtest.Agent{w.responder, w.Agent()} {
		graphtest.Refused(t, fault.NotFound)(w.Tasks.CloseTask(by.Ctx, naming(task)))
	}
	graphtest.Refused(t, fault.NotFound)(w.Tasks.CloseTask(w.customer.Ctx, tasks.TaskInput{TaskID: uuid.NewString()}))
	// An agent that may not take on obligations may still close a task, even after the deadline.
	w.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", w.customer.ID)
	w.Shift(100 * 24 * time.Hour)
	closed := graphtest.Got(w.Tasks.CloseTask(w.customer.Ctx, naming(task)))(t)
	require.Equal(t, "closed", closed.Task.State)
	require.True(t, closed.Task.UpdatedAt.After(task.UpdatedAt))
	require.Equal(t, closed.Task, w.see(w.customer.Ctx, task))
	require.Equal(t, "declined", w.responses(w.responder, task)[0].State)
	w.Shift(time.Hour)
	require.Equal(t, closed, graphtest.Got(w.Tasks.CloseTask(w.customer.Ctx, naming(task)))(t))
	graphtest.Refused(t, fault.StateConflict)(w.Tasks.SelectResponse(w.customer.Ctx, choice(task, response)))
}

func TestTasksThatAreRemovedOrOfDeletedAgentsAreNotFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	given, open := w.task(), w.task()
	w.Selected(w.customer, given, w.Responded(w.responder, given.ID).ID)
	response := w.Responded(w.responder, open.ID)
	for _, task := range []*tasks.Card{given, open} {
		require.NoError(t, w.remove(task.ID))
		graphtest.RequireFault(t, w.remove(task.ID), fault.NotFound)
	}
	graphtest.RequireFault(t, w.remove(uuid.New()), fault.NotFound)
	require.Equal(t, []string{"closed declined", "selected selected"}, w.ownStates(w.responder))
	list := graphtest.Got(w.Tasks.TaskBoard(w.customer.Ctx, tasks.TaskBoardInput{Mine: []string{"true"}}))(t)
	require.Empty(t, list.Tasks)
	w.gone(given, open, response)
	require.Equal(t, [2]int64{500_000 - total, total}, w.balances(w.customer), "the order goes on")
	w.reconciled()
	w.Exec("UPDATE tasks SET removed_at = NULL WHERE id = $1", given.ID)
	open = w.task()
	response = w.Responded(w.responder, open.ID)
	w.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", w.customer.ID)
	w.gone(given, open, response)
}

// gone requires that two tasks exist for no one.
func (w *world) gone(given, open *tasks.Card, response *tasks.ResponseCard) {
	for _, task := range []*tasks.Card{given, open} {
		for _, by := range []*graphtest.Agent{w.customer, w.responder, w.Agent()} {
			graphtest.Refused(w.t, fault.NotFound)(w.Tasks.Task(by.Ctx, naming(task)))
			graphtest.Refused(w.t, fault.NotFound)(w.Tasks.TaskResponses(by.Ctx, tasks.TaskResponsesInput{TaskID: task.ID.String()}))
			graphtest.Refused(w.t, fault.NotFound)(w.Tasks.CloseTask(by.Ctx, naming(task)))
			graphtest.Refused(w.t, fault.NotFound)(w.Tasks.SelectResponse(by.Ctx, choice(task, response)))
			graphtest.Refused(w.t, fault.NotFound)(w.Tasks.UpdateResponse(by.Ctx, changing(response, "You")))
			graphtest.Refused(w.t, fault.NotFound)(w.Tasks.WithdrawResponse(by.Ctx, namingResponse(response)))
			for _, q := range []string{"", "sonnet", "so"} {
				list := graphtest.Got(w.Tasks.TaskBoard(by.Ctx, tasks.TaskBoardInput{State: []string{"open"}, Q: []string{q}}))(w.t)
				require.Empty(w.t, list.Tasks)
			}
		}
		graphtest.Refused(w.t, fault.NotFound)(w.Tasks.RespondToTask(w.Agent().Ctx, answer(task, "I")))
	}
}
