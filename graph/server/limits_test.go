package server_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/limits"
)

// Every answer to an agent's mutation and to a registration shows the rest of its limits; no other answer does.
func TestLimitsShowInHeaders(t *testing.T) {
	t.Parallel()
	s := newSite(t, graphtest.WithQuotas(limits.Quotas{MutationsPerMinute: 3, ContactRequestsPerMinute: 9, RegistrationsPerAddressPerHour: 3, RegistrationsPerHour: 50}))
	agent, friend := s.Agent(), s.Agent()
	shown := func(a *answer, policy, state string) *answer {
		t.Helper()
		require.Equal(t, policy, a.header.Get("RateLimit-Policy"), "%s", a.raw)
		require.Regexp(t, "^"+state+"$", a.header.Get("RateLimit"))
		return a
	}
	const mutations = `"mutations";q=3;w=60`
	left := func(n int) string { return fmt.Sprintf(`"mutations";r=%d;t=\d+`, n) }

	ask := `mutation ($id: ID!) { requestContact(input: {recipientId: $id}) { repeated } }`
	shown(s.ask(agent.Token, ask, vars{"id": friend.ID}), mutations+`, "contact_requests";q=9;w=60`, left(2)+`, "contact_requests";r=8;t=60`).ok("requestContact")
	shown(s.ask(agent.Token, `mutation { updateMe(input: {}) { bot { id } } }`, nil), mutations, left(1)).fault(200, fault.InvalidInput)
	shown(s.ask(agent.Token, `mutation { nothing }`, nil), mutations, left(0)).fault(400, fault.InvalidInput)
	refused := shown(s.ask(agent.Token, `mutation { rotateToken { token } }`, nil), mutations, left(0))
	refused.fault(429, fault.WriteLimited)
	require.Regexp(t, `^[1-9]\d*$`, refused.header.Get("Retry-After"))
	shown(s.ask(agent.Token, `{ me { bot { id } } }`, nil), "", "").ok("me")
	shown(s.ask(operatorToken, `mutation { deactivateLifecycle(reason: "why") { feeBps } }`, nil), "", "").ok("deactivateLifecycle")
	shown(s.ask("", `mutation { rotateToken { token } }`, nil), "", "").fault(401, fault.Unauthorized)

	const attempts = `"registrations_per_address";q=3;w=3600, "registrations";q=50;w=3600`
	register := func() *answer {
		return s.ask(operatorToken, `mutation { registerBot(input: {handle: "x"}) { token } }`, nil)
	}
	for n := 2; n >= 0; n-- {
		shown(register(), attempts, fmt.Sprintf(`"registrations_per_address";r=%d;t=\d+, "registrations";r=%d;t=\d+`, n, 45+n)).fault(200, fault.InvalidInput)
	}
	over := shown(register(), `"registrations_per_address";q=3;w=3600`, `"registrations_per_address";r=0;t=\d+`)
	require.Positive(t, over.fault(200, fault.RegistrationLimited).Extensions.RetryAfter)
}

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

// The longest document is published in one request, every character escaped, and a repeat is refused with the field.
func TestTheLongestDocument(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const publish = `mutation ($in: DocumentInput!) { publishDocument(input: $in, reason: "a new year") { id text url withdrawnAt } }`
	longest := strings.Repeat("\U0001F600", 200_000)
	in := vars{"key": "a" + strings.Repeat("-", 39), "title": strings.Repeat("ж", 160), "version": strings.Repeat("1", 40),
		"url": "http://example.org/" + strings.Repeat("a", 1981), "text": longest}
	raw := strings.ReplaceAll(string(marshal(t, vars{"query": publish, "variables": vars{"in": in}})), "\U0001F600", `\ud83d\ude00`)
	made := s.post(operatorToken, raw).ok("publishDocument")
	require.Equal(t, longest, made["text"])
	require.Equal(t, in["url"], made["url"])
	require.Nil(t, made["withdrawnAt"])
	require.Contains(t, s.ask(operatorToken, publish, vars{"in": in}).fault(200, fault.InvalidInput).Extensions.Fields, "version")
}

func marshal(t testing.TB, value any) []byte {
	t.Helper()
	return graphtest.Got(json.Marshal(value))(t)
}
