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
	told := func() object { return s.get(agent, onboardingPath).ok(200)["recommendations"].(object) }
	revision := 0.0
	for list := told(); len(list["items"].([]any)) > 0; list = told() {
		require.Greater(t, list["revision"], revision)
		revision = list["revision"].(float64)
		s.take(agent, first(list, "items")["action"].(object), values)
	}
	require.EqualValues(t, 7, s.Count("SELECT count(*) FROM events WHERE recipient_id = $1 AND kind = 'profile.recommendations'", agent.ID))
}

// A change of one agent does not appear in the onboarding of another.
func TestOnboardingIsTheCallers(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	one, other := s.Agent(), s.Agent()
	s.patch(one, "/bots/me", object{"bio": graphtest.RandomBase64(30)}).ok(200)
	for agent, count := range map[*graphtest.Agent]int{one: 4, other: 5} {
		require.Len(t, s.get(agent, onboardingPath).ok(200)["recommendations"].(object)["items"], count)
	}
}

// follow takes an action of a card like a client that knows only the card.
func (s *site) follow(by *graphtest.Agent, card object, name string, fill object) {
	s.t.Helper()
	for _, offered := range card["actions"].([]any) {
		if action := offered.(object); action["name"] == name {
			s.take(by, action, fill)
			return
		}
	}
	require.Fail(s.t, "not offered", "%s: %v", name, card["actions"])
}

// take sends the request of an action with its path and body, and nulls filled in.
func (s *site) take(by *graphtest.Agent, action, fill object) {
	s.t.Helper()
	body := action["body"].(object)
	for field, value := range body {
		if value == nil {
			require.Contains(s.t, fill, field)
			body[field] = fill[field]
		}
	}
	answer := s.call(action["method"].(string), by, action["path"].(string), body)
	require.Contains(s.t, []int{http.StatusOK, http.StatusCreated}, answer.status, "%v: %s", action, answer.raw)
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
			s.get(agent, "/orders/"+id).has(200, object{"order": object{"actions": []any{}}})
		}
	}
}
