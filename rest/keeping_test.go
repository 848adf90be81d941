package rest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

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
