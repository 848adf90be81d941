package rest_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
)

// follow takes a step like a client that knows only the card: with the path and body of its action, and nulls filled in.
func (s *trade) follow(by *graphtest.Agent, id, name string) {
	s.t.Helper()
	card := s.send("GET", "/api/v1/orders/"+id, by.Token, nil).ok(http.StatusOK)["order"].(map[string]any)
	for _, offered := range card["actions"].([]any) {
		action := offered.(map[string]any)
		if action["name"] != name {
			continue
		}
		body := action["body"].(map[string]any)
		for field, value := range body {
			switch {
			case value != nil:
			case field == "operation_id":
				body[field] = uuid.NewString()
			default:
				body[field] = "Because."
			}
		}
		s.send(action["method"].(string), action["path"].(string), by.Token, body).ok(http.StatusOK)
		return
	}
	require.Fail(s.t, "not offered", "%s in %s", name, card["state"])
}

func TestActionsOfACardCanBeFollowed(t *testing.T) {
	t.Parallel()
	type step struct {
		by   string
		name string
	}
	for _, life := range [][]step{
		{{"customer", "accept"}, {"contractor", "start"}, {"contractor", "deliver"}, {"customer", "complete"}},
		{{"customer", "accept"}, {"customer", "dispute"}, {"contractor", "propose-refund"}, {"customer", "approve-refund"}},
		{{"customer", "reject"}},
		{{"contractor", "cancel"}},
	} {
		s := newTrade(t)
		id := s.offer(s.contractor, s.asked())["id"].(string)
		for _, next := range life {
			s.follow(map[string]*graphtest.Agent{"customer": s.customer, "contractor": s.contractor}[next.by], id, next.name)
		}
		for _, agent := range []*graphtest.Agent{s.customer, s.contractor} {
			card := s.send("GET", "/api/v1/orders/"+id, agent.Token, nil).ok(http.StatusOK)["order"].(map[string]any)
			require.Equal(t, []any{}, card["actions"])
		}
	}
}
