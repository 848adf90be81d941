package rest_test

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// board is a site with a customer and two agents, none of them friends.
type board struct {
	*site
	customer, one, other *graphtest.Agent
}

func boardOn(s *site) *board {
	return &board{site: s, customer: s.Agent(), one: s.Agent(), other: s.Agent()}
}

// job returns the body of a task with the given members changed, and without nil members.
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

// choice returns the body of a selection.
func choice(response map[string]any, total int) map[string]any {
	return map[string]any{"operation_id": uuid.NewString(), "response_id": response["id"], "confirmed_total_minor": total}
}

// see reads a task, anonymously if the agent is nil.
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

// contains requires a card to have these members.
func contains(t *testing.T, card, want map[string]any) {
	t.Helper()
	for name, value := range want {
		require.Equal(t, value, card[name], name)
	}
}

func TestTaskOnTheBoard(t *testing.T) {
	t.Parallel()
	s := boardOn(sharedSite(t))
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

	// The board is public: an anonymous reader sees the same without order and actions.
	seen := s.see(nil, task)
	require.Equal(t, slices.DeleteFunc(members, func(n string) bool { return n == "order_id" }), slices.Sorted(maps.Keys(seen)))
	require.Equal(t, []any{}, seen["actions"])
	require.Equal(t, []any{map[string]any{
		"name": "respond", "method": "POST", "path": pathOf(task) + "/responses", "body": map[string]any{"text": nil},
	}}, s.see(s.one, task)["actions"])
}
