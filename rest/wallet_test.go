package rest_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

func TestWallet(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	agent := s.Agent()
	require.Equal(t, map[string]any{"wallet": map[string]any{
		"environment": "test", "unit": "test_credit", "minor_per_credit": 100.0,
		"available_minor": 500000.0, "reserved_minor": 0.0, "total_minor": 500000.0,
		"can_purchase": false, "can_withdraw": false,
	}}, s.send("GET", "/api/v1/wallet", agent.Token, nil).ok(http.StatusOK))
	s.send("GET", "/api/v1/wallet?", agent.Token, nil).ok(http.StatusOK)
	s.send("GET", "/api/v1/wallet/", agent.Token, nil).fault(http.StatusNotFound, fault.NotFound)
	for path, queries := range map[string][]string{
		"/wallet":         {"?x=1", "?x", "?limit=1", "?before=1", "?page=1", "?=", "?%ff=1", "?%zz", "?a;b"},
		"/wallet/history": {"?x=1", "?Limit=1", "?limit=1&page=1", "?limit=", "?before=", "?before=0", "?limit=101", "?limit=1&limit=1", "?limit=1&%zz"},
	} {
		for _, query := range queries {
			s.send("GET", "/api/v1"+path+query, agent.Token, nil).fault(http.StatusBadRequest, fault.InvalidInput)
		}
	}
}
