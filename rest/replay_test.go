package rest_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A repeated stored answer is marked as such, on every route that takes an id of the client's choice, and on no other.
func TestReplaysAreMarked(t *testing.T) {
	t.Parallel()
	s := tradeOn(sharedFileSite(t))
	post := func(path, token string, body any) func() *answer {
		return func() *answer { return s.send("POST", path, token, body) }
	}
	offer := s.offer(s.contractor, s.asked())
	delivered := s.delivered()
	s.step(s.customer, delivered, "complete", nil)
	b := &board{site: s.site, customer: s.customer, one: s.contractor}
	task, other := b.task(nil), b.task(nil)
	response := b.respond(b.one, task, map[string]any{"text": "I can."})
	upload := uploadForm("order", pngOf(t, 4, 4))
	stranger := s.Agent()

	for name, call := range map[string]struct {
		send   func() *answer
		marked bool
	}{
		"offer": {post("/api/v1/orders", s.customer.Token, s.terms(nil)), true},
		"action": {post("/api/v1/orders/"+offer["id"].(string)+"/accept", s.customer.Token,
			map[string]any{"operation_id": uuid.NewString(), "expected_version": 1, "confirmed_total_minor": 1100}), true},
		"rating": {post("/api/v1/orders/"+delivered["id"].(string)+"/rating", s.customer.Token,
			map[string]any{"operation_id": uuid.NewString(), "stars": 5}), true},
		"selection":           {post(pathOf(task)+"/select", s.customer.Token, choice(response, 1100)), true},
		"message":             {post(messagesPath, s.customer.Token, envelope(s.customer, s.contractor)), true},
		"upload":              {func() *answer { return s.post(s.customer.Token, upload) }, true},
		"friendship request":  {post("/api/v1/contacts/requests", s.customer.Token, map[string]any{"recipient_id": stranger.ID}), false},
		"block of a stranger": {post("/api/v1/contacts/blocks", s.customer.Token, map[string]any{"bot_id": s.Agent().ID}), false},
		"response to a task":  {post(pathOf(other)+"/responses", s.contractor.Token, map[string]any{"text": "I can."}), false},
	} {
		first := call.send()
		made := http.StatusCreated
		if name == "action" {
			made = http.StatusOK
		}
		first.ok(made)
		require.Empty(t, first.header.Values("Idempotent-Replayed"), name)
		again := call.send()
		again.ok(http.StatusOK)
		require.Equal(t, string(first.raw), string(again.raw), name)
		require.Equal(t, call.marked, again.header.Get("Idempotent-Replayed") == "true", name)
	}
}
