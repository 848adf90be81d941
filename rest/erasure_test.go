package rest_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
)

// marker is a word in every text of the agent that is deleted.
const marker = "Quetzalcoatlus"

// Text that an agent deletes is in no column of the database any more.
func TestTextsThatAnAgentDeletesAreErased(t *testing.T) {
	t.Parallel()
	s, agent := newSite(t).withAgent()
	for _, visibility := range []string{"private", "public"} {
		made := s.post(agent, "/posts", object{"title": marker, "text": marker, "visibility": visibility}).
			ok(201)["post"].(object)
		path := "/api/v1/posts/" + of(made)
		s.patch(agent, path, object{"text": "All about " + marker}).ok(200)
		require.Equal(t, []string{"posts.folded", "posts.text", "posts.title"}, s.Traces(marker))
		s.delete(agent, path).ok(200)
		require.Empty(t, s.Traces(marker), visibility)
	}
	made := s.post(agent, "/services", object{"title": marker, "description": marker}).ok(201)["service"].(object)
	require.NotEmpty(t, s.Traces(marker))
	s.delete(agent, "/services/"+of(made)).ok(200)
	require.Empty(t, s.Traces(marker))
}

// A deleted agent leaves only the texts of accepted orders; others read its handle, and otherwise only that it is deleted.
func TestADeletedAgentLeavesNoText(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	agent, peer := s.customer, s.contractor
	s.patch(agent, "/bots/me", object{
		"display_name": marker, "specialty": marker, "bio": marker, "character_description": marker,
	}).ok(200)
	for _, visibility := range []string{"private", "public"} {
		s.post(agent, "/posts", object{"title": marker, "text": marker, "visibility": visibility}).ok(201)
	}
	s.post(agent, "/services", object{"title": marker, "description": marker}).ok(201)
	s.post(agent, "/feedback", object{"kind": "idea", "text": marker}).ok(201)
	s.put(agent, "/tasks/watch", object{"q": marker}).ok(200)
	avatar := s.File(agent, attachments.Avatar)
	s.Exec("UPDATE attachments SET file_name = $2 WHERE id = $1", avatar, marker+".png")
	s.patch(agent, "/bots/me", object{"avatar_attachment_id": avatar, "rights_confirmed": true}).ok(200)

	s.post(agent, "/tasks", job(object{"title": marker, "description": marker})).ok(201)
	ended := s.post(agent, "/tasks", job(object{"title": marker, "description": marker})).ok(201)
	s.post(agent, pathOf(ended["task"].(object))+"/close", nil).ok(200)
	wanted := s.post(peer, "/tasks", job(nil)).ok(201)["task"].(object)
	s.post(agent, pathOf(wanted)+"/responses", object{"text": marker}).ok(201)

	marked := object{"title": marker, "description": marker}
	s.offer(agent, s.terms(marked)) // cancelled by the deletion
	rejected := s.offer(agent, s.terms(marked))
	s.step(peer, rejected, "reject", nil)
	offered := object{
		"operation_id": uuid.NewString(), "title": "A sonnet", "description": "Fourteen lines.", "deadline": "2999-01-01T00:00:00Z",
		"amount_minor": 1000, "customer_id": agent.ID,
	}
	open := s.offer(peer, offered)
	done := s.step(peer, s.offer(agent, s.terms(nil)), "accept", nil)
	done = s.step(peer, s.step(peer, done, "start", nil), "deliver", object{"result_text": "Done."})
	done = s.step(agent, done, "complete", nil)
	s.rate(agent, done["id"], object{"text": marker}).ok(201)
	mine := object{"operation_id": uuid.NewString(), "stars": 4, "text": "Paid at once."}
	s.rate(peer, done["id"], mine).ok(201)
	require.Contains(t, s.Traces(marker), "operations.result")

	s.Exec("ANALYZE")
	require.Greater(t, s.sampled(marker), int64(10))
	s.Deleted(agent)
	require.Empty(t, s.Traces(marker))
	s.requireUnreadable(marker)
	require.Zero(t, s.Count("SELECT count(*) FROM tokens WHERE bot_id = $1", agent.ID))
	require.Zero(t, s.Count("SELECT count(*) FROM attachments WHERE owner_id = $1 AND deleted_at IS NULL", agent.ID))

	for path, briefs := range map[string]int{
		"/api/v1/orders": 4, "/api/v1/orders/" + of(open): 1, "/api/v1/orders/" + of(done): 1, "/api/v1/contacts": 1,
		"/api/v1/tasks/" + of(wanted) + "/responses": 1, "/api/v1/bots/" + peer.ID.String() + "/ratings": 1,
	} {
		seen := s.get(peer, path).is(200)
		requireDeletedBriefs(t, seen.raw, agent, briefs)
	}
	// A repeat gets the stored answer, with the agent's current state.
	again := s.post(peer, "/orders", offered)
	requireDeletedBriefs(t, again.raw, agent, 1)
	require.Equal(t, of(open), again.ok(200)["order"].(object)["id"])
	require.Equal(t, "A sonnet", again.body["order"].(object)["title"])
	s.rate(peer, done["id"], mine).ok(200)

	card := s.get(peer, "/orders/"+of(rejected)).ok(200)["order"].(object)
	require.Equal(t, "deleted", card["title"])
	require.Equal(t, "rejected", card["state"])
	kept := s.get(peer, "/orders/"+of(done)).ok(200)["order"].(object)
	require.Equal(t, "A sonnet", kept["title"], "a closed order stays")
}

// sampled counts the columns with a text in their statistics.
func (s *site) sampled(text string) int64 {
	return s.Count("SELECT count(*) FROM pg_stats WHERE position(lower($1) IN lower(concat(most_common_vals, histogram_bounds))) > 0", text)
}

// requireUnreadable requires that, after the job, no statistics and no index of the database hold a text, as written or
// case-folded.
func (s *site) requireUnreadable(text string) {
	s.t.Helper()
	require.NoError(s.t, s.Lifecycle.ClearTraces(s.t.Context()))
	require.Zero(s.t, s.sampled(text), text)
	for name, raw := range s.Files("i") {
		require.False(s.t, bytes.Contains(raw, []byte(text)) || bytes.Contains(raw, []byte(strings.ToLower(text))), "%s in %s", text, name)
	}
}

// requireDeletedBriefs requires a number of briefs of an agent in an answer, all without name, keys and avatar.
func requireDeletedBriefs(t *testing.T, answer []byte, agent *graphtest.Agent, count int) {
	t.Helper()
	var body any
	require.NoError(t, json.Unmarshal(answer, &body))
	found := 0
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, member := range v {
				walk(member)
			}
		case object:
			if v["id"] == agent.ID.String() && v["handle"] != nil {
				found++
				require.Equal(t, object{
					"id": v["id"], "handle": v["handle"], "display_name": "deleted",
					"encryption_public_key": nil, "encryption_key_fingerprint": nil, "avatar_url": nil,
				}, v)
			}
			for _, member := range v {
				walk(member)
			}
		}
	}
	walk(body)
	require.Equal(t, count, found, "%s", answer)
}

// An erasure hides the profile and the services of its agent; cancelling it shows them again. Ended things stay ended.
func TestACancelledErasureShowsWhatItHid(t *testing.T) {
	t.Parallel()
	for _, public := range []bool{true, false} {
		s := tradeOn(newSite(t))
		agent, peer := s.customer, s.contractor
		made := s.post(agent, "/services", object{"title": "Odes", "description": "Of any length."}).ok(201)
		service := "/api/v1/services/" + of(made["service"].(object))
		task := s.post(agent, "/tasks", job(nil)).ok(201)["task"].(object)
		theirs := s.post(peer, "/tasks", job(nil)).ok(201)["task"].(object)
		s.post(agent, pathOf(theirs)+"/responses", object{"text": "I can."}).ok(201)
		offer := s.offer(agent, s.terms(nil))
		s.patch(agent, "/bots/me", object{"profile_public": public}).ok(200)
		profile := "/api/v1/bots/" + agent.ID.String()
		shown := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}
		requireShown := func(public bool) {
			t.Helper()
			for _, path := range []string{profile, service} {
				require.Equal(t, shown[public], s.get(peer, path).status, path)
			}
			onboarding := s.get(agent, "/bots/me/onboarding").ok(200)
			for _, step := range onboarding["guide"].(object)["steps"].([]any) {
				step := step.(object)
				switch step["code"] {
				case "profile_public":
					require.Equal(t, public, step["done"])
				case "first_service":
					require.Equal(t, true, step["done"], "it is hidden, not ended")
				}
			}
		}
		requireShown(public)

		sent := erasure(s, agent)
		s.post(agent, erasurePath, sent).ok(202)
		requireShown(false)
		onboarding := s.get(agent, "/bots/me/onboarding").ok(200)
		pending := onboarding["lifecycle"].(object)["erasure"].(object)
		require.Equal(t, "pending", pending["state"])
		require.Equal(t, "agent", pending["requested_by"])
		require.Contains(t, onboarding["guide"].(object)["summary"], "Your erasure is pending")

		s.delete(agent, erasurePath).ok(200)
		requireShown(public)
		onboarding = s.get(agent, "/bots/me/onboarding").ok(200)
		require.Nil(t, onboarding["lifecycle"].(object)["erasure"])
		require.NotContains(t, onboarding["guide"].(object)["summary"], "erasure")
		require.Equal(t, "closed", s.get(nil, pathOf(task)).ok(200)["task"].(object)["state"])
		require.Equal(t, "cancelled", s.get(peer, "/orders/"+of(offer)).ok(200)["order"].(object)["state"])
		own := s.get(agent, "/tasks/responses").ok(200)["responses"].([]any)
		require.Equal(t, "declined", own[0].(object)["state"])
	}
}
