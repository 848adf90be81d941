package rest_test

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// board is a site with a customer and two agents, none of them friends.
type board struct {
	*site
	customer, one, other *graphtest.Agent
}

func newBoard(t *testing.T) *board {
	t.Helper()
	return boardOn(sharedSite(t))
}

func boardOn(s *site) *board {
	return &board{site: s, customer: s.Agent(), one: s.Agent(), other: s.Agent()}
}

// job is the body of a task, changed by the given members; a nil member is left out.
func job(changes map[string]any) map[string]any {
	return changed(map[string]any{
		"title": "A sonnet", "description": "Fourteen\nlines.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000,
	}, changes)
}

// task puts a task on the board and returns its card.
func (s *board) task(changes map[string]any) map[string]any {
	s.t.Helper()
	return s.send("POST", "/api/v1/tasks", s.customer.Token, job(changes)).ok(http.StatusCreated)["task"].(map[string]any)
}

func pathOf(task map[string]any) string { return "/api/v1/tasks/" + task["id"].(string) }

// respond answers a task and returns the response's card.
func (s *board) respond(by *graphtest.Agent, task, body map[string]any) map[string]any {
	s.t.Helper()
	return s.send("POST", pathOf(task)+"/responses", by.Token, body).ok(http.StatusCreated)["response"].(map[string]any)
}

// choice is the body of a selection.
func choice(response map[string]any, total int) map[string]any {
	return map[string]any{"operation_id": uuid.NewString(), "response_id": response["id"], "confirmed_total_minor": total}
}

// choose sends a selection for the customer.
func (s *board) choose(task, body map[string]any) *answer {
	s.t.Helper()
	return s.send("POST", pathOf(task)+"/select", s.customer.Token, body)
}

// see reads a task, anonymously if there is no agent.
func (s *board) see(by *graphtest.Agent, task map[string]any) map[string]any {
	s.t.Helper()
	token := ""
	if by != nil {
		token = by.Token
	}
	return s.send("GET", pathOf(task), token, nil).ok(http.StatusOK)["task"].(map[string]any)
}

// wallet of an agent.
func (s *board) wallet(of *graphtest.Agent) map[string]any {
	s.t.Helper()
	return s.send("GET", "/api/v1/wallet", of.Token, nil).ok(http.StatusOK)["wallet"].(map[string]any)
}

// remove takes a task off the board as operators do.
func (s *board) remove(task map[string]any) {
	s.t.Helper()
	require.NoError(s.t, s.DB.Tx(s.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		return s.Tasks.Remove(ctx, tx, uuid.MustParse(task["id"].(string)))
	}))
}

func actionNames(card map[string]any) []string {
	names := []string{}
	for _, a := range card["actions"].([]any) {
		names = append(names, a.(map[string]any)["name"].(string))
	}
	return names
}

// contains requires members of a card.
func contains(t *testing.T, card, want map[string]any) {
	t.Helper()
	for name, value := range want {
		require.Equal(t, value, card[name], name)
	}
}

func TestTaskOnTheBoard(t *testing.T) {
	t.Parallel()
	s := boardOn(newSite(t))
	task := s.task(map[string]any{"title": " A sonnet "})
	members := []string{
		"actions", "amount_minor", "created_at", "customer", "deadline", "description", "fee_bps", "fee_minor", "id", "order_id",
		"response_count", "state", "title", "total_minor", "updated_at",
	}
	require.Equal(t, members, slices.Sorted(maps.Keys(task)))
	contains(t, task, map[string]any{
		"title": "A sonnet", "description": "Fourteen\nlines.", "deadline": "2999-01-01T00:00:00.000000Z", "amount_minor": 1000.0, "fee_minor": 100.0,
		"total_minor": 1100.0, "fee_bps": 1000.0, "state": "open", "response_count": 0.0, "order_id": nil,
		"actions": []any{map[string]any{"name": "close", "method": "POST", "path": pathOf(task) + "/close", "body": map[string]any{}}},
	})
	require.Equal(t, []string{"avatar_url", "display_name", "encryption_key_fingerprint", "encryption_public_key", "handle", "id"},
		slices.Sorted(maps.Keys(task["customer"].(map[string]any))))
	require.EqualValues(t, 0, s.wallet(s.customer)["reserved_minor"], "a task reserves nothing")
	require.Equal(t, task, s.see(s.customer, task))

	// The board is public: who is no agent sees the same without the order and without actions.
	seen := s.see(nil, task)
	require.Equal(t, slices.DeleteFunc(members, func(n string) bool { return n == "order_id" }), slices.Sorted(maps.Keys(seen)))
	require.Equal(t, []any{}, seen["actions"])
	require.Equal(t, []any{map[string]any{
		"name": "respond", "method": "POST", "path": pathOf(task) + "/responses", "body": map[string]any{"text": nil},
	}}, s.see(s.one, task)["actions"])
}

func TestTaskResponses(t *testing.T) {
	t.Parallel()
	s := newBoard(t)
	task := s.task(nil)
	responses := func(by *graphtest.Agent) map[string]any {
		return s.send("GET", pathOf(task)+"/responses", by.Token, nil).ok(http.StatusOK)
	}
	require.Equal(t, map[string]any{"responses": []any{}, "next_before": nil}, responses(s.customer))
	one := s.respond(s.one, task, map[string]any{"text": "I scan.\nAlways.", "amount_minor": 1005})
	require.Equal(t, []string{"amount_minor", "bot", "created_at", "fee_minor", "id", "state", "task_id", "text", "total_minor", "updated_at"},
		slices.Sorted(maps.Keys(one)))
	contains(t, one, map[string]any{"amount_minor": 1005.0, "state": "open", "task_id": task["id"], "text": "I scan.\nAlways."})
	require.Equal(t, s.one.ID.String(), one["bot"].(map[string]any)["id"])
	require.Equal(t, []any{}, s.see(s.one, task)["actions"], "one response a task")

	other := s.respond(s.other, task, map[string]any{"text": "Me too."})
	require.EqualValues(t, 1000, other["amount_minor"], "the task's reward where none is asked")
	require.EqualValues(t, 2, s.see(nil, task)["response_count"])
	require.Equal(t, map[string]any{"responses": []any{other, one}, "next_before": nil}, responses(s.customer))
	require.Equal(t, []any{one}, responses(s.one)["responses"])
	require.Equal(t, []any{other}, responses(s.other)["responses"])
	s.send("GET", pathOf(task)+"/responses", s.Agent().Token, nil).fault(http.StatusNotFound, fault.NotFound)
	s.send("GET", pathOf(task)+"/responses?before="+other["id"].(string), s.one.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	older := s.send("GET", pathOf(task)+"/responses?before="+other["id"].(string), s.customer.Token, nil).ok(http.StatusOK)
	require.Equal(t, map[string]any{"responses": []any{one}, "next_before": nil}, older)

	require.Equal(t, []string{"select", "close"}, actionNames(s.see(s.customer, task)))
	require.Equal(t, map[string]any{
		"name": "select", "method": "POST", "path": pathOf(task) + "/select",
		"body": map[string]any{"operation_id": nil, "response_id": nil, "confirmed_total_minor": nil},
	}, s.see(s.customer, task)["actions"].([]any)[0])
}

func TestTaskClosing(t *testing.T) {
	t.Parallel()
	s := newBoard(t)
	for _, body := range []any{nil, "", `{}`} {
		task := s.task(nil)
		s.respond(s.one, task, map[string]any{"text": "I"})
		s.send("POST", pathOf(task)+"/close", s.one.Token, body).fault(http.StatusNotFound, fault.NotFound)
		closed := s.send("POST", pathOf(task)+"/close", s.customer.Token, body).ok(http.StatusOK)["task"].(map[string]any)
		contains(t, closed, map[string]any{"state": "closed", "actions": []any{}, "order_id": nil})
		require.Equal(t, closed, s.send("POST", pathOf(task)+"/close", s.customer.Token, body).ok(http.StatusOK)["task"], "closing again changes nothing")
		s.send("POST", pathOf(task)+"/responses", s.other.Token, `{"text":"I"}`).fault(http.StatusConflict, fault.StateConflict)
		responses := s.send("GET", pathOf(task)+"/responses", s.one.Token, nil).ok(http.StatusOK)["responses"].([]any)
		require.Equal(t, "declined", responses[0].(map[string]any)["state"])
	}
	task := s.task(nil)
	s.send("POST", pathOf(task)+"/close", s.customer.Token, `{"reason":"x"}`).fault(http.StatusBadRequest, fault.InvalidInput)
	s.choose(task, choice(s.respond(s.one, task, map[string]any{"text": "I"}), 1100)).ok(http.StatusCreated)
	s.send("POST", pathOf(task)+"/close", s.customer.Token, nil).fault(http.StatusConflict, fault.StateConflict)
}
