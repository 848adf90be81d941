package rest_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// marker is a word in every text of the agent that is deleted.
const marker = "Quetzalcoatlus"

// Text that an agent has deleted is in no column of the database.
func TestTextsThatAnAgentDeletesAreErased(t *testing.T) {
	t.Parallel()
	s, agent := newSite(t).withAgent()
	for _, visibility := range []string{"private", "public"} {
		path := "/posts/" + of(s.post(agent, "/posts", object{"title": marker, "text": marker, "visibility": visibility}).ok(201)["post"].(object))
		s.patch(agent, path, object{"text": "All about " + marker}).ok(200)
		require.Equal(t, []string{"posts.folded", "posts.text", "posts.title"}, s.Traces(marker))
		s.delete(agent, path).ok(200)
		require.Empty(t, s.Traces(marker), visibility)
	}
	made := s.offered(agent, marker, marker)
	require.NotEmpty(t, s.Traces(marker))
	s.delete(agent, "/services/"+of(made)).ok(200)
	require.Empty(t, s.Traces(marker))
}

// A deleted agent leaves only the texts of accepted orders; others read its handle, and otherwise only that it is deleted.
func TestADeletedAgentLeavesNoText(t *testing.T) {
	t.Parallel()
	s := tradeOn(newSite(t))
	agent, peer := s.customer, s.contractor
	s.patch(agent, "/bots/me", object{"display_name": marker, "specialty": marker, "bio": marker, "character_description": marker}).ok(200)
	for _, visibility := range []string{"private", "public"} {
		s.post(agent, "/posts", object{"title": marker, "text": marker, "visibility": visibility}).ok(201)
	}
	s.offered(agent, marker, marker)
	s.post(agent, "/feedback", object{"kind": "idea", "text": marker}).ok(201)
	s.put(agent, "/tasks/watch", object{"q": marker}).ok(200)
	avatar := s.File(agent, attachments.Avatar)
	s.Exec("UPDATE attachments SET file_name = $2 WHERE id = $1", avatar, marker+".png")
	s.patch(agent, "/bots/me", object{"avatar_attachment_id": avatar, "rights_confirmed": true}).ok(200)

	marked := object{"title": marker, "description": marker}
	s.task(agent, marked)
	s.post(agent, pathOf(s.task(agent, marked))+"/close", nil).ok(200)
	wanted := s.task(peer, nil)
	s.respond(agent, wanted, object{"text": marker})

	s.offer(agent, s.terms(marked)) // cancelled by the deletion
	rejected := s.offer(agent, s.terms(marked))
	s.step(peer, rejected, "reject", nil)
	offered := job(object{"operation_id": uuid.NewString(), "customer_id": agent.ID})
	open := s.offer(peer, offered)
	done := s.closed()
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
		requireDeletedBriefs(t, s.get(peer, path).is(200).raw, agent, briefs)
	}
	// A repeat gets the stored answer, with the agent's current state.
	again := s.post(peer, "/orders", offered)
	requireDeletedBriefs(t, again.raw, agent, 1)
	again.has(200, object{"order": object{"id": of(open), "title": "A sonnet"}})
	s.rate(peer, done["id"], mine).ok(200)

	s.get(peer, "/orders/"+of(rejected)).has(200, object{"order": object{"title": "deleted", "state": "rejected"}})
	s.get(peer, "/orders/"+of(done)).has(200, object{"order": object{"title": "A sonnet"}}) // a closed order stays
}

// A text that reaches the server during its author's deletion is refused: it would outlive the deletion.
func TestNoTextOutlivesTheDeletionOfItsAuthor(t *testing.T) {
	t.Parallel()
	for name, prepare := range map[string]func(*trade) (method, path string, body object){
		"rating": func(s *trade) (string, string, object) {
			return "POST", "/orders/" + of(s.closed()) + "/rating", object{"operation_id": uuid.NewString(), "stars": 4, "text": marker}
		},
		"feedback": func(*trade) (string, string, object) {
			return "POST", "/feedback", object{"kind": "idea", "text": marker}
		},
		"watch": func(*trade) (string, string, object) { return "PUT", "/tasks/watch", object{"q": marker} },
		"post": func(*trade) (string, string, object) {
			return "POST", "/posts", object{"text": marker, "visibility": "private"}
		},
		"public post": func(*trade) (string, string, object) {
			return "POST", "/posts", object{"text": marker, "visibility": "public"}
		},
		"service": func(*trade) (string, string, object) {
			return "POST", "/services", object{"title": marker, "description": marker}
		},
		"profile": func(*trade) (string, string, object) { return "PATCH", "/bots/me", object{"bio": marker} },
		"owner": func(*trade) (string, string, object) {
			return "POST", "/bots/me/owner-email/request", object{"email": marker + "@example.org"}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tradeOn(newSite(t, graphtest.WithMail(new(graphtest.Mailbox))))
			method, path, body := prepare(s)
			commit := s.Hold("SELECT stoa_lock_bot($1), stoa_erase_bot($1)", s.customer.ID)
			done := make(chan *answer)
			go func() {
				defer close(done)
				done <- s.call(method, s.customer, path, body)
			}()
			s.AwaitLocks(1)
			commit()
			(<-done).fault(fault.Unauthorized)
			require.Empty(t, s.Traces(marker))
		})
	}
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

// An erasure hides the profile and the services of its agent; a cancellation shows them again, but restores no ended records.
func TestACancelledErasureShowsWhatItHid(t *testing.T) {
	t.Parallel()
	for _, public := range []bool{true, false} {
		s := tradeOn(newSite(t))
		agent, peer := s.customer, s.contractor
		service, task, theirs := s.offered(agent, "Odes", "Of any length."), s.task(agent, nil), s.task(peer, nil)
		s.respond(agent, theirs, object{"text": "I can."})
		offer := s.offer(agent, s.terms(nil))
		s.patch(agent, "/bots/me", object{"profile_public": public}).ok(200)
		// requireShown returns the onboarding.
		requireShown := func(public bool) object {
			t.Helper()
			for _, path := range []string{"/bots/" + agent.ID.String(), "/services/" + of(service)} {
				s.get(peer, path).is(map[bool]int{true: 200, false: 404}[public])
			}
			onboarding := s.get(agent, onboardingPath).ok(200)
			for _, step := range onboarding["guide"].(object)["steps"].([]any) {
				switch step := step.(object); step["code"] {
				case "profile_public":
					require.Equal(t, public, step["done"])
				case "first_service":
					require.Equal(t, true, step["done"], "it is hidden, not ended")
				}
			}
			return onboarding
		}
		requireShown(public)

		s.erasing(agent)
		onboarding := requireShown(false)
		contains(t, onboarding, object{"lifecycle": object{"erasure": object{"state": "pending", "requested_by": "agent"}}})
		require.Contains(t, onboarding["guide"].(object)["summary"], "Your erasure is pending")

		s.delete(agent, erasurePath).ok(200)
		onboarding = requireShown(public)
		contains(t, onboarding, object{"lifecycle": object{"erasure": nil}})
		require.NotContains(t, onboarding["guide"].(object)["summary"], "erasure")
		s.get(nil, pathOf(task)).has(200, object{"task": object{"state": "closed"}})
		s.get(peer, "/orders/"+of(offer)).has(200, object{"order": object{"state": "cancelled"}})
		require.Equal(t, "declined", first(s.get(agent, "/tasks/responses").ok(200), "responses")["state"])
	}
}
