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
	s := newSite(t)
	agent := s.Agent()
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
		seen := s.send("GET", path, peer.Token, nil)
		seen.ok(http.StatusOK)
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
