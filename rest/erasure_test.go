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
		made := s.send("POST", "/api/v1/posts", agent.Token, map[string]any{"title": marker, "text": marker, "visibility": visibility}).
			ok(http.StatusCreated)["post"].(map[string]any)
		path := "/api/v1/posts/" + of(made)
		s.send("PATCH", path, agent.Token, map[string]any{"text": "All about " + marker}).ok(http.StatusOK)
		require.Equal(t, []string{"posts.folded", "posts.text", "posts.title"}, s.Traces(marker))
		s.send("DELETE", path, agent.Token, nil).ok(http.StatusOK)
		require.Empty(t, s.Traces(marker), visibility)
	}
	made := s.send("POST", "/api/v1/services", agent.Token, map[string]any{"title": marker, "description": marker}).
		ok(http.StatusCreated)["service"].(map[string]any)
	require.NotEmpty(t, s.Traces(marker))
	s.send("DELETE", "/api/v1/services/"+of(made), agent.Token, nil).ok(http.StatusOK)
	require.Empty(t, s.Traces(marker))
}

// A deleted agent leaves only the texts of accepted orders; others read its handle, and otherwise only that it is deleted.
func TestADeletedAgentLeavesNoText(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	agent, peer := s.customer, s.contractor
	s.send("PATCH", "/api/v1/bots/me", agent.Token, map[string]any{
		"display_name": marker, "specialty": marker, "bio": marker, "character_description": marker,
	}).ok(http.StatusOK)
	for _, visibility := range []string{"private", "public"} {
		s.send("POST", "/api/v1/posts", agent.Token, map[string]any{"title": marker, "text": marker, "visibility": visibility}).ok(http.StatusCreated)
	}
	s.send("POST", "/api/v1/services", agent.Token, map[string]any{"title": marker, "description": marker}).ok(http.StatusCreated)
	s.send("POST", "/api/v1/feedback", agent.Token, map[string]any{"kind": "idea", "text": marker}).ok(http.StatusCreated)
	s.send("PUT", "/api/v1/tasks/watch", agent.Token, map[string]any{"q": marker}).ok(http.StatusOK)
	avatar := s.File(agent, attachments.Avatar)
	s.Exec("UPDATE attachments SET file_name = $2 WHERE id = $1", avatar, marker+".png")
	s.send("PATCH", "/api/v1/bots/me", agent.Token, map[string]any{"avatar_attachment_id": avatar, "rights_confirmed": true}).ok(http.StatusOK)

	s.send("POST", "/api/v1/tasks", agent.Token, job(map[string]any{"title": marker, "description": marker})).ok(http.StatusCreated)
	ended := s.send("POST", "/api/v1/tasks", agent.Token, job(map[string]any{"title": marker, "description": marker})).ok(http.StatusCreated)
	s.send("POST", pathOf(ended["task"].(map[string]any))+"/close", agent.Token, nil).ok(http.StatusOK)
	wanted := s.send("POST", "/api/v1/tasks", peer.Token, job(nil)).ok(http.StatusCreated)["task"].(map[string]any)
	s.send("POST", pathOf(wanted)+"/responses", agent.Token, map[string]any{"text": marker}).ok(http.StatusCreated)

	marked := map[string]any{"title": marker, "description": marker}
	s.offer(agent, s.terms(marked)) // cancelled by the deletion
	rejected := s.offer(agent, s.terms(marked))
	s.step(peer, rejected, "reject", nil)
	offered := map[string]any{
		"operation_id": uuid.NewString(), "title": "A sonnet", "description": "Fourteen lines.", "deadline": "2999-01-01T00:00:00Z",
		"amount_minor": 1000, "customer_id": agent.ID,
	}
	open := s.offer(peer, offered)
	done := s.step(peer, s.offer(agent, s.terms(nil)), "accept", nil)
	done = s.step(peer, s.step(peer, done, "start", nil), "deliver", map[string]any{"result_text": "Done."})
	done = s.step(agent, done, "complete", nil)
	s.rate(agent, done["id"], map[string]any{"text": marker}).ok(http.StatusCreated)
	mine := map[string]any{"operation_id": uuid.NewString(), "stars": 4, "text": "Paid at once."}
	s.rate(peer, done["id"], mine).ok(http.StatusCreated)
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
		seen := s.send("GET", path, peer.Token, nil).is(http.StatusOK)
		requireDeletedBriefs(t, seen.raw, agent, briefs)
	}
	// A repeat gets the stored answer, with the agent's current state.
	again := s.send("POST", "/api/v1/orders", peer.Token, offered)
	requireDeletedBriefs(t, again.raw, agent, 1)
	require.Equal(t, of(open), again.ok(http.StatusOK)["order"].(map[string]any)["id"])
	require.Equal(t, "A sonnet", again.body["order"].(map[string]any)["title"])
	s.rate(peer, done["id"], mine).ok(http.StatusOK)

	card := s.send("GET", "/api/v1/orders/"+of(rejected), peer.Token, nil).ok(http.StatusOK)["order"].(map[string]any)
	require.Equal(t, "deleted", card["title"])
	require.Equal(t, "rejected", card["state"])
	kept := s.send("GET", "/api/v1/orders/"+of(done), peer.Token, nil).ok(http.StatusOK)["order"].(map[string]any)
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
		case map[string]any:
			if v["id"] == agent.ID.String() && v["handle"] != nil {
				found++
				require.Equal(t, map[string]any{
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
		made := s.send("POST", "/api/v1/services", agent.Token, map[string]any{"title": "Odes", "description": "Of any length."}).ok(http.StatusCreated)
		service := "/api/v1/services/" + of(made["service"].(map[string]any))
		task := s.send("POST", "/api/v1/tasks", agent.Token, job(nil)).ok(http.StatusCreated)["task"].(map[string]any)
		theirs := s.send("POST", "/api/v1/tasks", peer.Token, job(nil)).ok(http.StatusCreated)["task"].(map[string]any)
		s.send("POST", pathOf(theirs)+"/responses", agent.Token, map[string]any{"text": "I can."}).ok(http.StatusCreated)
		offer := s.offer(agent, s.terms(nil))
		s.send("PATCH", "/api/v1/bots/me", agent.Token, map[string]any{"profile_public": public}).ok(http.StatusOK)
		profile := "/api/v1/bots/" + agent.ID.String()
		shown := map[bool]int{true: http.StatusOK, false: http.StatusNotFound}
		requireShown := func(public bool) {
			t.Helper()
			for _, path := range []string{profile, service} {
				require.Equal(t, shown[public], s.send("GET", path, peer.Token, nil).status, path)
			}
			onboarding := s.send("GET", "/api/v1/bots/me/onboarding", agent.Token, nil).ok(http.StatusOK)
			for _, step := range onboarding["guide"].(map[string]any)["steps"].([]any) {
				step := step.(map[string]any)
				switch step["code"] {
				case "profile_public":
					require.Equal(t, public, step["done"])
				case "first_service":
					require.Equal(t, true, step["done"], "it is hidden, not ended")
				}
			}
		}
		requireShown(public)

		_, sent := erasure(s, agent)
		s.send("POST", erasurePath, agent.Token, sent).ok(http.StatusAccepted)
		requireShown(false)
		onboarding := s.send("GET", "/api/v1/bots/me/onboarding", agent.Token, nil).ok(http.StatusOK)
		pending := onboarding["lifecycle"].(map[string]any)["erasure"].(map[string]any)
		require.Equal(t, "pending", pending["state"])
		require.Equal(t, "agent", pending["requested_by"])
		require.Contains(t, onboarding["guide"].(map[string]any)["summary"], "Your erasure is pending")

		s.send("DELETE", erasurePath, agent.Token, nil).ok(http.StatusOK)
		requireShown(public)
		onboarding = s.send("GET", "/api/v1/bots/me/onboarding", agent.Token, nil).ok(http.StatusOK)
		require.Nil(t, onboarding["lifecycle"].(map[string]any)["erasure"])
		require.NotContains(t, onboarding["guide"].(map[string]any)["summary"], "erasure")
		require.Equal(t, "closed", s.send("GET", pathOf(task), "", nil).ok(http.StatusOK)["task"].(map[string]any)["state"])
		require.Equal(t, "cancelled", s.send("GET", "/api/v1/orders/"+of(offer), peer.Token, nil).ok(http.StatusOK)["order"].(map[string]any)["state"])
		own := s.send("GET", "/api/v1/tasks/responses", agent.Token, nil).ok(http.StatusOK)["responses"].([]any)
		require.Equal(t, "declined", own[0].(map[string]any)["state"])
	}
}
