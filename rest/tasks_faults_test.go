package rest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

// The codes of the contract that no story of graph/server meets.
func TestTaskFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		code   fault.Code
		send   func(s *board, task, response map[string]any) *answer
	}{
		"a response too late": {http.StatusConflict, fault.DeadlinePassed, func(s *board, task, _ map[string]any) *answer {
			s.Exec("UPDATE tasks SET deadline = stoa_now() WHERE id = $1", task["id"])
			return s.send("POST", pathOf(task)+"/responses", s.other.Token, `{"text":"I"}`)
		}},
		"a selection too late": {http.StatusConflict, fault.DeadlinePassed, func(s *board, task, response map[string]any) *answer {
			s.Exec("UPDATE tasks SET deadline = stoa_now() WHERE id = $1", task["id"])
			return s.choose(task, choice(response, 1))
		}},
		"an inactive responder": {http.StatusConflict, fault.ParticipantInactive, func(s *board, task, response map[string]any) *answer {
			s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", s.one.ID)
			return s.choose(task, choice(response, 1100))
		}},
		"too little money": {http.StatusConflict, fault.InsufficientFunds, func(s *board, task, _ map[string]any) *answer {
			return s.choose(task, choice(s.respond(s.other, task, map[string]any{"text": "I", "amount_minor": 454_546}), 500_001))
		}},
		"a removed task": {http.StatusNotFound, fault.NotFound, func(s *board, task, _ map[string]any) *answer {
			s.remove(task)
			require.NotContains(s.t, s.boardIDs(), task["id"])
			return s.send("GET", pathOf(task), "", nil)
		}},
		"a task of a deleted agent": {http.StatusNotFound, fault.NotFound, func(s *board, task, _ map[string]any) *answer {
			s.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", s.customer.ID)
			require.NotContains(s.t, s.boardIDs(), task["id"])
			return s.send("GET", pathOf(task), s.one.Token, nil)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newBoard(t)
			task := s.task(nil)
			response := s.respond(s.one, task, map[string]any{"text": "I"})
			c.send(s, task, response).fault(c.status, c.code)
			require.Zero(t, s.Count("SELECT count(*) FROM orders WHERE customer_id = $1", s.customer.ID))
			require.Zero(t, s.Count("SELECT reserved_minor FROM accounts WHERE bot_id = $1", s.customer.ID))
		})
	}
}

// boardIDs are the ids of the newest tasks on the board.
func (s *board) boardIDs() (ids []any) {
	s.t.Helper()
	for _, task := range s.send("GET", "/api/v1/tasks?page_size=50", "", nil).ok(http.StatusOK)["tasks"].([]any) {
		ids = append(ids, task.(map[string]any)["id"])
	}
	return ids
}
