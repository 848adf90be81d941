package rest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

func TestUnauthorizedSaysThatTheTokenWasReplaced(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	ada := s.Agent()
	s.send("POST", "/api/v1/tokens/rotate", ada.Token, nil).ok(http.StatusOK)
	refused := s.send("GET", "/api/v1/bots/me", ada.Token, nil).fault(http.StatusUnauthorized, fault.Unauthorized)
	require.Regexp(t, `^This token was replaced at \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\.$`, refused["message"])
}
