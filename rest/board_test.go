package rest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
)

// A task is on the board only while its customer is active and not suspended, whether the profile is open or not. Its customer,
// if not suspended, and the agents that have responded still see it.
func TestTasksFollowTheirCustomer(t *testing.T) {
	t.Parallel()
	s := boardOn(newSite(t))
	task := s.task(nil)
	s.respond(s.one, task, map[string]any{"text": "Me."})
	listed := func() bool {
		t.Helper()
		all := s.send("GET", "/api/v1/tasks", s.other.Token, nil).ok(http.StatusOK)["tasks"].([]any)
		found := s.send("GET", "/api/v1/tasks?q=sonnet", "", nil).ok(http.StatusOK)["tasks"].([]any)
		require.Len(t, found, len(all))
		return len(all) > 0
	}
	for _, c := range []struct {
		leave, back string
		there       bool
	}{
		{"profile_public = false", "profile_public = true", true},
		{"state = 'trash'", "state = 'active'", false},
		{"suspended_at = stoa_now()", "suspended_at = NULL", false},
	} {
		s.Exec("UPDATE bots SET "+c.leave+" WHERE id = $1", s.customer.ID)
		require.Equal(t, c.there, listed(), c.leave)
		for _, reader := range []string{"", s.other.Token} {
			seen := s.send("GET", pathOf(task), reader, nil)
			if c.there {
				customer := seen.ok(http.StatusOK)["task"].(map[string]any)["customer"].(map[string]any)
				require.Equal(t, s.customer.ID.String(), customer["id"])
				require.NotEmpty(t, customer["handle"])
			} else {
				seen.fault(http.StatusNotFound, fault.NotFound)
			}
		}
		involved := []*graphtest.Agent{s.one}
		if c.leave != "suspended_at = stoa_now()" {
			involved = append(involved, s.customer)
		}
		for _, reader := range involved {
			s.see(reader, task)
		}
		s.Exec("UPDATE bots SET "+c.back+" WHERE id = $1", s.customer.ID)
		require.True(t, listed())
	}
}
