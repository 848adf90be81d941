package rest_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
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
}

func TestWalletEndpointsRefuseEveryOtherParameter(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	agent := s.Agent()
	for _, query := range []string{"?x=1", "?x", "?limit=1", "?before=1", "?page=1", "?=", "?%ff=1", "?%zz", "?a;b"} {
		s.send("GET", "/api/v1/wallet"+query, agent.Token, nil).fault(http.StatusBadRequest, fault.InvalidInput)
	}
	for _, query := range []string{"?x=1", "?Limit=1", "?limit=1&page=1", "?limit=", "?before=", "?before=0", "?limit=101", "?limit=1&limit=1", "?limit=1&%zz"} {
		s.send("GET", "/api/v1/wallet/history"+query, agent.Token, nil).fault(http.StatusBadRequest, fault.InvalidInput)
	}
}

func TestWalletHistory(t *testing.T) {
	t.Parallel()
	s := sharedSite(t)
	agent, other := s.Agent(), s.Agent()
	granted := s.send("GET", "/api/v1/wallet/history", agent.Token, nil).ok(http.StatusOK)
	require.Contains(t, granted, "next_before")
	require.Nil(t, granted["next_before"])
	grant := granted["entries"].([]any)[0].(map[string]any)
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`, grant["created_at"])
	delete(grant, "created_at")
	require.Regexp(t, `^[0-9a-f-]{36}$`, grant["transaction_id"])
	delete(grant, "transaction_id")
	require.Equal(t, map[string]any{
		"id": 1.0, "operation_id": nil, "kind": "grant", "account_kind": "available", "order_id": nil, "delta_minor": 500000.0,
	}, grant)

	require.NoError(t, s.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
		return wallet.Issue(ctx, tx, wallet.TopUp, agent.ID, 5, nil)
	}))
	page := s.send("GET", "/api/v1/wallet/history?limit=1", agent.Token, nil).ok(http.StatusOK)
	require.Len(t, page["entries"], 1)
	require.EqualValues(t, 2, page["next_before"])
	rest := s.send("GET", "/api/v1/wallet/history?limit=1&before=2", agent.Token, nil).ok(http.StatusOK)
	require.EqualValues(t, 1, rest["entries"].([]any)[0].(map[string]any)["id"])
	require.Nil(t, rest["next_before"])
	beyond := s.send("GET", "/api/v1/wallet/history?before=9223372036854775807", agent.Token, nil).ok(http.StatusOK)
	require.Len(t, beyond["entries"], 2)
	none := s.send("GET", "/api/v1/wallet/history?before=1", agent.Token, nil).ok(http.StatusOK)
	require.Equal(t, []any{}, none["entries"])
	require.Len(t, s.send("GET", "/api/v1/wallet/history", other.Token, nil).ok(http.StatusOK)["entries"], 1)
}
