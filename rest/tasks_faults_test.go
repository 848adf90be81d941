package rest_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

func TestTaskBodies(t *testing.T) {
	t.Parallel()
	s := newBoard(t)
	for name, body := range map[string]any{
		"nothing": `{}`, "no object": `[]`, "no JSON": `{`, "twice": `{"title":"a","title":"b"}`, "unknown": job(map[string]any{"operation_id": uuid.NewString()}),
		"no title": job(map[string]any{"title": nil}), "empty title": job(map[string]any{"title": " "}), "long title": job(map[string]any{"title": strings.Repeat("x", 161)}),
		"two lines": job(map[string]any{"title": "a\nb"}), "a null title": `{"title":null}`, "no description": job(map[string]any{"description": nil}),
		"empty description": job(map[string]any{"description": ""}), "long description": job(map[string]any{"description": strings.Repeat("x", 8001)}),
		"a control": job(map[string]any{"description": "\x01"}), "no deadline": job(map[string]any{"deadline": nil}),
		"a local deadline": job(map[string]any{"deadline": "2999-01-01T00:00:00"}), "a past deadline": job(map[string]any{"deadline": "2020-01-01T00:00:00Z"}),
		"no amount": job(map[string]any{"amount_minor": nil}), "no reward": job(map[string]any{"amount_minor": 0}), "a fraction": job(map[string]any{"amount_minor": 1.5}),
		"a string": job(map[string]any{"amount_minor": "1"}), "too much": job(map[string]any{"amount_minor": 909_090_909_092}), "far too much": job(map[string]any{"amount_minor": 9_000_000_000_000_000}),
	} {
		s.send("POST", "/api/v1/tasks", s.customer.Token, body).fault(http.StatusBadRequest, fault.InvalidInput)
		require.Zero(t, s.Count("SELECT count(*) FROM tasks WHERE customer_id = $1", s.customer.ID), name)
	}
	s.send("POST", "/api/v1/tasks", s.customer.Token, nil).fault(http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
	s.send("POST", "/api/v1/tasks", s.customer.Token, job(nil), "Content-Type", "text/plain").fault(http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
	s.send("POST", "/api/v1/tasks", s.customer.Token, job(map[string]any{"description": strings.Repeat("ж", 33<<10)})).
		fault(http.StatusRequestEntityTooLarge, fault.PayloadTooLarge)
	s.task(map[string]any{"title": strings.Repeat("ж", 160), "description": strings.Repeat("ж", 8000), "amount_minor": 909_090_909_091})
}

func TestTaskResponseBodies(t *testing.T) {
	t.Parallel()
	s := newBoard(t)
	task := s.task(nil)
	for _, body := range []any{
		`{}`, `{"text":""}`, `{"text":null}`, `{"text":5}`, map[string]any{"text": strings.Repeat("x", 4001)}, `{"text":"\u0001"}`, `{"text":"I","amount_minor":0}`,
		`{"text":"I","amount_minor":-1}`, `{"text":"I","amount_minor":null}`, `{"text":"I","amount_minor":1.0}`, `{"text":"I","amount_minor":909090909092}`,
		`{"text":"I","amount_minor":9223372036854775807}`, `{"text":"I","state":"open"}`,
	} {
		s.send("POST", pathOf(task)+"/responses", s.one.Token, body).fault(http.StatusBadRequest, fault.InvalidInput)
	}
	s.send("POST", pathOf(task)+"/responses", s.one.Token, nil).fault(http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
	require.EqualValues(t, 0, s.see(nil, task)["response_count"])
	response := s.respond(s.one, task, map[string]any{"text": strings.Repeat("ж\n", 2000)})
	for _, changes := range []map[string]any{
		{"operation_id": nil}, {"operation_id": "x"}, {"response_id": nil}, {"response_id": "x"}, {"confirmed_total_minor": nil}, {"confirmed_total_minor": "1100"},
		{"confirmed_total_minor": 1100.5}, {"expected_version": 1},
	} {
		s.choose(task, changed(choice(response, 1100), changes)).fault(http.StatusBadRequest, fault.InvalidInput)
	}
	s.choose(task, nil).fault(http.StatusBadRequest, fault.InvalidInput)
	s.send("POST", pathOf(task)+"/select", s.customer.Token, nil).fault(http.StatusUnsupportedMediaType, fault.UnsupportedMediaType)
	require.Zero(t, s.Count("SELECT count(*) FROM orders WHERE customer_id = $1", s.customer.ID))
}

// Each code of the contract as a client meets it.
func TestTaskFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status int
		code   fault.Code
		send   func(s *board, task, response map[string]any) *answer
	}{
		"a response to one's own task": {http.StatusForbidden, fault.Forbidden, func(s *board, task, _ map[string]any) *answer {
			return s.send("POST", pathOf(task)+"/responses", s.customer.Token, `{"text":"I"}`)
		}},
		"a response too late": {http.StatusConflict, fault.DeadlinePassed, func(s *board, task, _ map[string]any) *answer {
			s.Exec("UPDATE tasks SET deadline = stoa_now() WHERE id = $1", task["id"])
			return s.send("POST", pathOf(task)+"/responses", s.other.Token, `{"text":"I"}`)
		}},
		"a response from the trash": {http.StatusConflict, fault.ParticipantInactive, func(s *board, task, _ map[string]any) *answer {
			s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", s.other.ID)
			return s.send("POST", pathOf(task)+"/responses", s.other.Token, `{"text":"I"}`)
		}},
		"a task from the trash": {http.StatusConflict, fault.ParticipantInactive, func(s *board, _, _ map[string]any) *answer {
			s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", s.customer.ID)
			return s.send("POST", "/api/v1/tasks", s.customer.Token, job(nil))
		}},
		"a suspended caller": {http.StatusForbidden, fault.Forbidden, func(s *board, task, _ map[string]any) *answer {
			s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", s.one.ID)
			return s.send("GET", pathOf(task), s.one.Token, nil)
		}},
		"selecting for another": {http.StatusNotFound, fault.NotFound, func(s *board, task, response map[string]any) *answer {
			return s.send("POST", pathOf(task)+"/select", s.other.Token, choice(response, 1100))
		}},
		"an unknown response": {http.StatusNotFound, fault.NotFound, func(s *board, task, _ map[string]any) *answer {
			return s.choose(task, choice(map[string]any{"id": uuid.NewString()}, 1100))
		}},
		"a response to another task": {http.StatusNotFound, fault.NotFound, func(s *board, task, _ map[string]any) *answer {
			return s.choose(task, choice(s.respond(s.one, s.task(nil), map[string]any{"text": "I"}), 1100))
		}},
		"a selection too late": {http.StatusConflict, fault.DeadlinePassed, func(s *board, task, response map[string]any) *answer {
			s.Exec("UPDATE tasks SET deadline = stoa_now() WHERE id = $1", task["id"])
			return s.choose(task, choice(response, 1))
		}},
		"an inactive responder": {http.StatusConflict, fault.ParticipantInactive, func(s *board, task, response map[string]any) *answer {
			s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", s.one.ID)
			return s.choose(task, choice(response, 1100))
		}},
		"another price": {http.StatusConflict, fault.PriceChanged, func(s *board, task, response map[string]any) *answer {
			return s.choose(task, choice(response, 1101))
		}},
		"too little money": {http.StatusConflict, fault.InsufficientFunds, func(s *board, task, _ map[string]any) *answer {
			return s.choose(task, choice(s.respond(s.other, task, map[string]any{"text": "I", "amount_minor": 454_546}), 500_001))
		}},
		"a closed task": {http.StatusConflict, fault.StateConflict, func(s *board, task, response map[string]any) *answer {
			s.send("POST", pathOf(task)+"/close", s.customer.Token, nil).ok(http.StatusOK)
			return s.choose(task, choice(response, 1100))
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
