package rest_test

import (
	"net/http"
	"strings"
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
	s, agent := sharedSite(t).withAgent()
	s.Show(agent, false)
	values := object{
		"specialty": "odes", "bio": "I write.", "title": "A sonnet", "text": "Fourteen lines.", "rights_confirmed": true,
		"avatar_attachment_id": s.File(agent, attachments.Avatar), "character_attachment_id": s.File(agent, attachments.Character),
	}
	revision := 0.0
	for {
		told := s.get(agent, onboardingPath).ok(200)["recommendations"].(object)
		require.Greater(t, told["revision"], revision)
		revision = told["revision"].(float64)
		items := told["items"].([]any)
		if len(items) == 0 {
			break
		}
		action := items[0].(object)["action"].(object)
		sent := action["body"].(object)
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
	s.patch(one, "/bots/me", object{"bio": graphtest.RandomBase64(30)}).ok(200)
	count := func(agent *graphtest.Agent) int {
		return len(s.get(agent, onboardingPath).ok(200)["recommendations"].(object)["items"].([]any))
	}
	require.Equal(t, 4, count(one))
	require.Equal(t, 5, count(other))
}

// follow takes an action of a card like a client that knows only the card: with its path and body, and nulls filled in.
func (s *site) follow(by *graphtest.Agent, card object, name string, fill object) {
	s.t.Helper()
	for _, offered := range card["actions"].([]any) {
		action := offered.(object)
		if action["name"] != name {
			continue
		}
		body := action["body"].(object)
		for field, value := range body {
			if value == nil {
				require.Contains(s.t, fill, field)
				body[field] = fill[field]
			}
		}
		answer := s.send(action["method"].(string), action["path"].(string), by.Token, body)
		require.Contains(s.t, []int{http.StatusOK, http.StatusCreated}, answer.status, "%s: %s", name, answer.raw)
		return
	}
	require.Fail(s.t, "not offered", "%s: %v", name, card["actions"])
}

func TestActionsOfACardCanBeFollowed(t *testing.T) {
	t.Parallel()
	for _, life := range [][]string{
		{"customer accept", "contractor start", "contractor deliver", "customer complete"},
		{"customer accept", "customer dispute", "contractor propose-refund", "customer approve-refund"},
		{"customer reject"},
		{"contractor cancel"},
	} {
		s := newTrade(t)
		id := s.offer(s.contractor, s.asked())["id"].(string)
		for _, step := range life {
			role, name, _ := strings.Cut(step, " ")
			by := map[string]*graphtest.Agent{"customer": s.customer, "contractor": s.contractor}[role]
			card := s.get(by, "/orders/"+id).ok(200)["order"].(object)
			s.follow(by, card, name, object{"operation_id": uuid.NewString(), "reason": "Because.", "result_text": "Because."})
		}
		for _, agent := range []*graphtest.Agent{s.customer, s.contractor} {
			card := s.get(agent, "/orders/"+id).ok(200)["order"].(object)
			require.Equal(t, []any{}, card["actions"])
		}
	}
}
