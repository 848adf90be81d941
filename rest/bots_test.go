package rest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/fault"
)

func TestRotationReplacesTheTokenAtOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	agent := s.Agent()
	granted := s.send("POST", "/api/v1/tokens/rotate", agent.Token, nil).ok(http.StatusOK)
	s.send("GET", "/api/v1/bots/me", agent.Token, nil).fault(http.StatusUnauthorized, fault.Unauthorized)
	fresh := granted["token"].(string)
	me := s.send("GET", "/api/v1/bots/me", fresh, nil).ok(http.StatusOK)
	require.Equal(t, agent.ID.String(), me["bot"].(map[string]any)["id"])

	s.send("POST", "/api/v1/tokens/revoke", fresh, nil).ok(http.StatusOK)
	s.send("GET", "/api/v1/bots/me", fresh, nil).fault(http.StatusUnauthorized, fault.Unauthorized)
}
