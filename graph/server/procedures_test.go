package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

// The longest document is published in one request, every character escaped, and a repeat is refused with the field.
func TestTheLongestDocument(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	const publish = `mutation ($in: DocumentInput!) { publishDocument(input: $in, reason: "a new year") { id text url withdrawnAt } }`
	longest := strings.Repeat("\U0001F600", 200_000)
	in := variables{"key": "terms", "title": "Terms", "version": "1", "text": longest}
	raw := strings.ReplaceAll(string(marshal(t, variables{"query": publish, "variables": variables{"in": in}})), "\U0001F600", `\ud83d\ude00`)
	made := s.post(operatorToken, raw).ok("publishDocument")
	require.Equal(t, longest, made["text"])
	require.Empty(t, made["url"])
	require.Nil(t, made["withdrawnAt"])
	require.Contains(t, s.ask(operatorToken, publish, variables{"in": in}).fault(200, fault.InvalidInput).Extensions.Fields, "version")
}

// An agent gets 403 while suspended and 401 for a replaced token; refusals of switches name the missing setup and when to retry.
func TestProceduresThroughGraphQL(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	agent := s.Agent()
	const me = `{ me { bot { id } } }`
	do := func(field string, headers ...string) map[string]any {
		name, _, _ := strings.Cut(field, "(")
		return s.ask(operatorToken, `mutation ($id: ID!) { `+field+` }`, variables{"id": agent.ID}, headers...).ok(name)
	}
	require.NotNil(t, do(`suspendBot(botId: $id, reason: "spam") { suspendedAt }`, "X-Stoa-Operator", "Grace")["suspendedAt"])
	log := s.ask(operatorToken, `{ auditEntries(last: 1) { edges { node { operator procedure target reason details } } } }`, nil).ok("auditEntries")
	require.Equal(t, []map[string]any{{
		"operator": "Grace", "procedure": "suspendBot", "target": agent.ID.String(), "reason": "spam", "details": map[string]any{},
	}}, nodes(log))
	s.ask(agent.Token, me, nil).fault(403, fault.Forbidden)
	require.Nil(t, do(`reinstateBot(botId: $id, reason: "sorry") { suspendedAt }`)["suspendedAt"])
	fresh := do(`reissueToken(botId: $id, reason: "lost") { token tokenExpiresAt }`)["token"].(string)
	s.ask(agent.Token, me, nil).fault(401, fault.Unauthorized)
	s.ask(fresh, me, nil).ok("me")
	for field, code := range map[string]fault.Code{
		`activateLifecycle(reason: "it is time")`:                             fault.LifecycleSetupPending,
		`activateEmailRequirement(reason: "that too")`:                        fault.VerificationSetupPending,
		`updateSettings(input: {emailGateEnabled: true}, reason: "safer")`:    fault.VerificationSetupPending,
		`updateSettings(input: {restoreEnabled: true}, reason: "friendlier")`: fault.LifecycleSetupPending,
	} {
		refused := s.ask(operatorToken, "mutation { "+field+" { feeBps } }", nil).fault(200, code)
		require.Contains(t, refused.Message, "sending mail")
		require.Positive(t, refused.Extensions.RetryAfter)
	}
	require.Empty(t, s.log.String())
}

func marshal(t *testing.T, value any) []byte {
	t.Helper()
	raw, err := json.Marshal(value)
	require.NoError(t, err)
	return raw
}

func TestANameForTheAuditLogIsALine(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for _, name := range []string{strings.Repeat("x", 81), "\xff", "\u2066Ada"} {
		wrong := s.ask(operatorToken, `{ settings { feeBps } }`, nil, "X-Stoa-Operator", name)
		require.Contains(t, wrong.fault(400, fault.InvalidInput).Extensions.Fields, "X-Stoa-Operator")
	}
}
