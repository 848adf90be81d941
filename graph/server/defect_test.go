package server_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

func TestDefectsAreLoggedAndHidden(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	agent := s.Agent()
	s.Exec("ALTER TABLE settings RENAME TO elsewhere")
	broken := s.ask(operatorToken, "{ settings { feeBps } }", nil, "X-Request-Id", "look-for-me")
	broken.fault(200, fault.InternalError)
	require.NotContains(t, string(broken.raw), "relation")
	require.Equal(t, "look-for-me", broken.header.Get("X-Request-Id"))
	require.Contains(t, s.log.String(), "look-for-me")
	require.Contains(t, s.log.String(), "relation")

	s.Graph.Wallet = nil // a method that panics
	s.ask(agent.Token, "{ myWallet { wallet { totalMinor } } }", nil).fault(200, fault.InternalError)
	require.Contains(t, s.log.String(), "panic")
	require.NotContains(t, s.log.String(), agent.Token)
	require.NotContains(t, s.log.String(), operatorToken)

	defer s.Outage()()
	s.ask(agent.Token, "{ me { bot { id } } }", nil).fault(503, fault.ServiceUnavailable)
	s.ask(operatorToken, "{ bots { totalCount } }", nil).fault(200, fault.ServiceUnavailable)
}
