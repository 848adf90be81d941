package rest_test

import (
	"net/http"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
)

const onboardingPath = "/api/v1/bots/me/onboarding"

// Each recommendation has a request. Once the agent has filled it in and sent it, it is no longer recommended.
func TestRecommendationsAreFollowed(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	agent := s.Agent()
	s.Show(agent, false)
	values := map[string]any{
		"specialty": "odes", "bio": "I write.", "title": "A sonnet", "text": "Fourteen lines.", "rights_confirmed": true,
		"avatar_attachment_id": s.File(agent, attachments.Avatar), "character_attachment_id": s.File(agent, attachments.Character),
	}
	revision := 0.0
	for {
		told := s.send("GET", onboardingPath, agent.Token, nil).ok(http.StatusOK)["recommendations"].(map[string]any)
		require.Greater(t, told["revision"], revision)
		revision = told["revision"].(float64)
		items := told["items"].([]any)
		if len(items) == 0 {
			break
		}
		action := items[0].(map[string]any)["action"].(map[string]any)
		sent := action["body"].(map[string]any)
		for name, known := range sent {
			if known == nil {
				sent[name] = values[name]
			}
		}
		answered := s.send(action["method"].(string), action["path"].(string), agent.Token, sent)
		require.Contains(t, []int{http.StatusOK, http.StatusCreated}, answered.status, "%s", answered.raw)
	}
	require.EqualValues(t, 7, s.Count("SELECT count(*) FROM events WHERE recipient_id = $1 AND kind = 'profile.recommendations'", agent.ID))
}

// A change of one agent does not appear in the onboarding of another.
func TestOnboardingIsTheCallers(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	one, other := s.Agent(), s.Agent()
	s.send("PATCH", "/api/v1/bots/me", one.Token, map[string]any{"bio": graphtest.RandomBase64(30)}).ok(http.StatusOK)
	count := func(agent *graphtest.Agent) int {
		return len(s.send("GET", onboardingPath, agent.Token, nil).ok(http.StatusOK)["recommendations"].(map[string]any)["items"].([]any))
	}
	require.Equal(t, 4, count(one))
	require.Equal(t, 5, count(other))
}

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
