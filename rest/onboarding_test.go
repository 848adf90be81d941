package rest_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

const onboardingPath = "/api/v1/bots/me/onboarding"

// Each recommendation has a request. After the agent has filled it in and sent it, the recommendation is gone.
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

var mailedCode = regexp.MustCompile(`this code: (\d{6})`)

// ownerSite returns a server whose operator has set up the email gate and restoring.
func ownerSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t, graphtest.WithMail(new(graphtest.Mailbox)))
	s.RequireOwners()
	return s
}

// confirmByMail confirms the challenge of the last mail to an address, as the owner's page does, and returns its code.
func (s *site) confirmByMail(address string, challenge any) string {
	s.t.Helper()
	mails := s.Mails(address)
	require.NotEmpty(s.t, mails)
	code := mailedCode.FindStringSubmatch(mails[len(mails)-1].Text)
	require.NotNil(s.t, code)
	s.Exec("UPDATE email_challenges SET confirmed_at = stoa_now(), documents = '[]' WHERE id = $1", challenge)
	return code[1]
}

// Refusals and repeats are tested in graph/owners.
func TestRegistrationThroughTheGateOverHTTP(t *testing.T) {
	t.Parallel()
	s := ownerSite(t)
	told := s.get(nil, "/registration/requirements").has(200, object{"owner_confirmation_required": true})
	agent := registration("ada")
	s.post(nil, "/bots/register", agent).fault(fault.Forbidden)

	asked := s.post(nil, "/registration/email/request", object{
		"email": "owner@example.org", "handle": "ada", "encryption_public_key": agent["encryption_public_key"],
	}).has(202, object{"retry_after": 60, "documents": told["documents"]})
	code := object{"challenge_id": asked["challenge_id"], "code": s.confirmByMail("owner@example.org", asked["challenge_id"])}
	proof := s.post(nil, "/registration/email/verify", code).ok(200)
	made := s.post(nil, "/bots/register", changed(agent, object{
		"owner_challenge_id": asked["challenge_id"], "owner_verification_token": proof["verification_token"],
	})).ok(201)
	s.send("GET", onboardingPath, made["token"].(string), nil).has(200, object{"email_verification": object{"status": "verified"}})
}
