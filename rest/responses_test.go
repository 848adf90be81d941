package rest_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// told returns the payloads of an agent's unacknowledged events of a kind.
func (s *board) told(agent *graphtest.Agent, version, kind string) []any {
	s.t.Helper()
	payloads := []any{}
	for _, e := range s.send("GET", "/api/v1/events?limit=100&version="+version, agent.Token, nil).ok(http.StatusOK)["events"].([]any) {
		if event := e.(map[string]any); event["kind"] == kind {
			payloads = append(payloads, event["payload"])
		}
	}
	return payloads
}

func answerPath(task, response map[string]any) string {
	return pathOf(task) + "/responses/" + response["id"].(string)
}

func TestOwnTasks(t *testing.T) {
	t.Parallel()
	s := newBoard(t)
	closed, open := s.task(nil), s.task(map[string]any{"title": "An ode"})
	s.send("POST", pathOf(closed)+"/close", s.customer.Token, nil).ok(http.StatusOK)
	ids := func(query string) []any {
		found := []any{}
		for _, card := range s.send("GET", "/api/v1/tasks?mine=true"+query, s.customer.Token, nil).ok(http.StatusOK)["tasks"].([]any) {
			found = append(found, card.(map[string]any)["id"])
		}
		return found
	}
	require.Equal(t, []any{open["id"], closed["id"]}, ids(""))
	require.Equal(t, []any{closed["id"]}, ids("&state=closed"))
	require.Equal(t, []any{closed["id"]}, ids("&page=2&page_size=1"))
	require.Equal(t, []any{open["id"]}, ids("&q=ODE"))
	a := s.send("GET", "/api/v1/tasks?mine=true", s.customer.Token, nil)
	a.ok(http.StatusOK)
	require.Empty(t, a.header.Get("X-Ignored-Parameters"))
	require.Equal(t, []any{}, s.send("GET", "/api/v1/tasks?mine=true", s.one.Token, nil).ok(http.StatusOK)["tasks"])
	for _, value := range []string{"false", "", "1", "True", "true&mine=true"} {
		for _, token := range []string{s.customer.Token, ""} {
			s.send("GET", "/api/v1/tasks?mine="+value, token, nil).fault(http.StatusBadRequest, fault.InvalidInput)
		}
	}
	s.send("GET", "/api/v1/tasks?mine=true", "", nil).fault(http.StatusUnauthorized, fault.Unauthorized)
}

func TestOwnResponses(t *testing.T) {
	t.Parallel()
	s := newBoard(t)
	own := func(by *graphtest.Agent, query string) map[string]any {
		return s.send("GET", "/api/v1/tasks/responses"+query, by.Token, nil).ok(http.StatusOK)
	}
	require.Equal(t, map[string]any{"responses": []any{}, "next_before": nil}, own(s.one, ""))
	first, second := s.task(nil), s.task(map[string]any{"title": "An ode"})
	one, two := s.respond(s.one, first, map[string]any{"text": "I"}), s.respond(s.one, second, map[string]any{"text": "I"})
	s.respond(s.other, second, map[string]any{"text": "I"})
	with := func(response, task map[string]any) map[string]any {
		return changed(response, map[string]any{"task": map[string]any{
			"id": task["id"], "title": task["title"], "state": "open", "deadline": task["deadline"],
		}})
	}
	require.Equal(t, map[string]any{"responses": []any{with(two, second), with(one, first)}, "next_before": nil}, own(s.one, ""))
	require.Equal(t, []any{with(one, first)}, own(s.one, "?before="+two["id"].(string))["responses"])
	s.send("GET", "/api/v1/tasks/responses?before="+two["id"].(string), s.other.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	s.send("GET", "/api/v1/tasks/responses?before=x", s.one.Token, nil).fault(http.StatusBadRequest, fault.InvalidID)

	// The list shows what happened to the tasks.
	s.send("DELETE", answerPath(first, one), s.one.Token, nil).ok(http.StatusOK)
	s.remove(second)
	states := []string{}
	for _, r := range own(s.one, "")["responses"].([]any) {
		card := r.(map[string]any)
		states = append(states, card["task"].(map[string]any)["title"].(string)+" "+card["state"].(string))
	}
	require.Equal(t, []string{"deleted declined", "A sonnet withdrawn"}, states)
}

func TestResponseChanges(t *testing.T) {
	t.Parallel()
	s := newBoard(t)
	task := s.task(nil)
	response := s.respond(s.one, task, map[string]any{"text": "I"})
	s.respond(s.other, task, map[string]any{"text": "I"})
	patch := func(by *graphtest.Agent, body any) *answer {
		return s.send("PATCH", answerPath(task, response), by.Token, body)
	}
	for _, body := range []any{`{}`, `{"text":""}`, `{"text":null}`, `{"amount_minor":0}`, `{"amount_minor":null}`, `{"amount_minor":1.5}`, `{"state":"selected"}`, `[]`} {
		patch(s.one, body).fault(http.StatusBadRequest, fault.InvalidInput)
	}
	patch(s.one, map[string]any{"amount_minor": 1_000_000_000_000}).fault(http.StatusBadRequest, fault.InvalidInput)
	patched := func(body map[string]any) map[string]any {
		done := patch(s.one, body).ok(http.StatusOK)["response"].(map[string]any)
		require.Greater(t, done["updated_at"], response["updated_at"])
		response["updated_at"] = done["updated_at"]
		return done
	}
	response["text"] = "You\nand I"
	require.Equal(t, response, patched(map[string]any{"text": "You\nand I"}))
	response["amount_minor"], response["fee_minor"], response["total_minor"] = 2000.0, 200.0, 2200.0
	require.Equal(t, response, patched(map[string]any{"amount_minor": 2000}))
	require.Contains(t, s.send("GET", pathOf(task)+"/responses", s.customer.Token, nil).ok(http.StatusOK)["responses"], any(response))

	patch(s.customer, map[string]any{"text": "x"}).fault(http.StatusForbidden, fault.Forbidden)
	s.send("DELETE", answerPath(task, response), s.customer.Token, nil).fault(http.StatusForbidden, fault.Forbidden)
	for _, stranger := range []*graphtest.Agent{s.other, s.Agent()} {
		patch(stranger, map[string]any{"text": "x"}).fault(http.StatusNotFound, fault.NotFound)
		s.send("DELETE", answerPath(task, response), stranger.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	}
	for id, want := range map[string]struct {
		status int
		code   fault.Code
	}{"x": {http.StatusBadRequest, fault.InvalidID}, uuid.NewString(): {http.StatusNotFound, fault.NotFound}} {
		for _, path := range []string{pathOf(task) + "/responses/" + id, "/api/v1/tasks/" + id + "/responses/" + response["id"].(string)} {
			s.send("PATCH", path, s.one.Token, map[string]any{"text": "x"}).fault(want.status, want.code)
			s.send("DELETE", path, s.one.Token, nil).fault(want.status, want.code)
		}
	}

	s.Exec("UPDATE tasks SET deadline = stoa_now() WHERE id = $1", task["id"])
	patch(s.one, map[string]any{"text": "x"}).fault(http.StatusConflict, fault.DeadlinePassed)
	gone := s.send("DELETE", answerPath(task, response), s.one.Token, nil).ok(http.StatusOK)["response"].(map[string]any)
	require.Greater(t, gone["updated_at"], response["updated_at"])
	response["state"], response["updated_at"] = "withdrawn", gone["updated_at"]
	require.Equal(t, response, gone)
	s.send("DELETE", answerPath(task, response), s.one.Token, nil).fault(http.StatusConflict, fault.StateConflict)
	patch(s.one, map[string]any{"text": "x"}).fault(http.StatusConflict, fault.StateConflict)
	s.send("DELETE", answerPath(task, response), s.customer.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	require.EqualValues(t, 1, s.see(nil, task)["response_count"])
	listed := s.send("GET", pathOf(task)+"/responses", s.customer.Token, nil).ok(http.StatusOK)["responses"].([]any)
	require.False(t, slices.ContainsFunc(listed, func(r any) bool { return r.(map[string]any)["id"] == response["id"] }))

	s.Exec("UPDATE tasks SET deadline = $2 WHERE id = $1", task["id"], "2999-01-01")
	again := s.respond(s.one, task, map[string]any{"text": "You\nand I"})
	require.NotEqual(t, response["id"], again["id"])
	require.EqualValues(t, 2, s.see(nil, task)["response_count"])
	s.choose(task, choice(response, 2200)).fault(http.StatusNotFound, fault.NotFound)
	s.choose(task, choice(again, 1100)).ok(http.StatusCreated)
	s.send("DELETE", answerPath(task, again), s.one.Token, nil).fault(http.StatusConflict, fault.StateConflict)
	s.send("PATCH", answerPath(task, again), s.one.Token, map[string]any{"text": "x"}).fault(http.StatusConflict, fault.StateConflict)
}

func TestBlockedAgentsCannotRespond(t *testing.T) {
	t.Parallel()
	s := newBoard(t)
	task := s.task(nil)
	s.send("POST", "/api/v1/contacts/blocks", s.customer.Token, map[string]any{"bot_id": s.one.ID}).ok(http.StatusCreated)
	s.send("POST", "/api/v1/contacts/blocks", s.other.Token, map[string]any{"bot_id": s.customer.ID}).ok(http.StatusCreated)
	for _, by := range []*graphtest.Agent{s.one, s.other} {
		s.send("POST", pathOf(task)+"/responses", by.Token, map[string]any{"text": "I"}).fault(http.StatusForbidden, fault.ContactBlocked)
		require.Equal(t, []any{}, s.see(by, task)["actions"])
	}
}

// Version 2 has events for customers and authors of responses; version 1 does not.
func TestTaskEvents(t *testing.T) {
	t.Parallel()
	s := newBoard(t)
	given, shut := s.task(nil), s.task(nil)
	one, other := s.respond(s.one, given, map[string]any{"text": "I"}), s.respond(s.other, given, map[string]any{"text": "I"})
	late := s.respond(s.one, shut, map[string]any{"text": "I"})
	order := s.choose(given, choice(one, 1100)).ok(http.StatusCreated)["order"].(map[string]any)
	s.send("POST", pathOf(shut)+"/close", s.customer.Token, nil).ok(http.StatusOK)
	of := func(response map[string]any, more map[string]any) any {
		return changed(map[string]any{"task_id": response["task_id"], "response_id": response["id"]}, more)
	}
	by := func(agent *graphtest.Agent) map[string]any { return map[string]any{"bot_id": agent.ID.String()} }
	require.Equal(t, []any{of(one, by(s.one)), of(other, by(s.other)), of(late, by(s.one))}, s.told(s.customer, "2", "task.responded"))
	require.Equal(t, []any{of(one, map[string]any{"order_id": order["id"]})}, s.told(s.one, "2", "task.selected"))
	require.Equal(t, []any{of(other, nil)}, s.told(s.other, "2", "task.declined"))
	require.Equal(t, []any{of(late, nil)}, s.told(s.one, "2", "task.declined"))
	for _, agent := range []*graphtest.Agent{s.customer, s.one, s.other} {
		for _, kind := range []string{"task.responded", "task.selected", "task.declined"} {
			require.Empty(t, s.told(agent, "1", kind))
		}
	}
}
