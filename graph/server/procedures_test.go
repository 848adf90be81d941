package server_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/platform/fault"
)

// lastEntry is the newest row of the audit log, as an operator reads it.
func (s *site) lastEntry() map[string]any {
	s.t.Helper()
	log := s.ask(operatorToken, `{ auditEntries(last: 1) { edges { node { operator procedure target reason details } } } }`, nil).ok("auditEntries")
	rows := nodes(log)
	require.Len(s.t, rows, 1)
	return rows[0]
}

func TestAnOperatorsDay(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	agent := s.Agent()

	changed := s.ask(operatorToken, `mutation { updateSettings(input: {registrationMode: INVITATION, feeBps: 500, operatorName: "Ada"}, reason: "a quiet start") {
		registrationMode feeBps operatorName rewardsEnabled } }`, nil).ok("updateSettings")
	require.Equal(t, map[string]any{"registrationMode": "INVITATION", "feeBps": 500.0, "operatorName": "Ada", "rewardsEnabled": false}, changed)
	require.Equal(t, map[string]any{
		"operator": "operator", "procedure": "updateSettings", "target": "", "reason": "a quiet start",
		"details": map[string]any{"registrationMode": "INVITATION", "feeBps": 500.0, "operatorName": "Ada"},
	}, s.lastEntry())

	made := s.ask(operatorToken, `mutation { createInvitation(input: {uses: 3, expiresAt: "2999-01-01T00:00:00Z", note: "for friends"}, reason: "a party") {
		code invitation { id uses used note expiresAt } } }`, nil, "X-Stoa-Operator", "Grace").ok("createInvitation")
	invitation := made["invitation"].(map[string]any)
	require.Equal(t, "2999-01-01T00:00:00.000000Z", invitation["expiresAt"])
	entry := s.lastEntry()
	require.Equal(t, "Grace", entry["operator"])
	require.Equal(t, invitation["id"], entry["target"])
	register := `mutation ($code: String, $key: Base64) { registerBot(input: {handle: "guest", displayName: "Guest", encryptionPublicKey: $key, invitation: $code}) { token } }`
	s.ask(operatorToken, register, variables{"key": agent.PublicKey()}).fault(200, fault.InvalidInvitation)
	require.NotEmpty(t, s.ask(operatorToken, register, variables{"key": agent.PublicKey(), "code": made["code"]}).ok("registerBot")["token"])
	s.ask(operatorToken, `mutation ($id: ID!) { revokeInvitation(id: $id, reason: "enough") { revokedAt used } }`, variables{"id": invitation["id"]}).ok("revokeInvitation")

	topUp := s.ask(operatorToken, `mutation ($id: ID!) { topUpWallet(botId: $id, amountMinor: 1000000000000, reason: "a bonus") { repeated account { availableMinor bot { id } } } }`,
		variables{"id": agent.ID}).ok("topUpWallet")
	require.Equal(t, map[string]any{"availableMinor": 1_000_000_500_000.0, "bot": map[string]any{"id": agent.ID.String()}}, topUp["account"])

	const me = `{ me { bot { id } } }`
	require.NotNil(t, s.ask(operatorToken, `mutation ($id: ID!) { suspendBot(botId: $id, reason: "spam") { suspendedAt } }`, variables{"id": agent.ID}).ok("suspendBot")["suspendedAt"])
	s.ask(agent.Token, me, nil).fault(403, fault.Forbidden)
	require.Nil(t, s.ask(operatorToken, `mutation ($id: ID!) { reinstateBot(botId: $id, reason: "sorry") { suspendedAt } }`, variables{"id": agent.ID}).ok("reinstateBot")["suspendedAt"])
	fresh := s.ask(operatorToken, `mutation ($id: ID!) { reissueToken(botId: $id, reason: "lost") { token tokenExpiresAt } }`, variables{"id": agent.ID}).ok("reissueToken")["token"].(string)
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
	for _, name := range []string{"deactivateLifecycle", "deactivateEmailRequirement"} {
		s.ask(operatorToken, "mutation { "+name+`(reason: "to be sure") { lifecycleActivatedAt emailRequirementActivatedAt } }`, nil).ok(name)
		require.Equal(t, name, s.lastEntry()["procedure"])
	}
	sound := s.ask(operatorToken, `mutation { runMaintenance(task: RECONCILE, reason: "a look") { task swept { name } discrepancies { check botId expected found } } }`, nil).ok("runMaintenance")
	require.Equal(t, map[string]any{"task": "RECONCILE", "swept": []any{}, "discrepancies": []any{}}, sound)
	require.Empty(t, s.log.String())
	for _, secret := range []string{made["code"].(string), fresh} {
		require.Zero(t, s.Count("SELECT count(*) FROM audit_entries e WHERE e::text LIKE '%' || $1 || '%'", secret))
	}
}

func TestReviewIsTheOnlyWayIntoAnOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.sow().ids["Order"]
	review := s.ask(operatorToken, `mutation ($id: ID!) { reviewOrder(orderId: $id, reason: "a complaint") `+everything(schema.Types["OrderReview"], 2)+` }`,
		variables{"id": id}).ok("reviewOrder")
	for field, text := range map[string]string{
		"title": "the title", "description": "the description", "resultText": "the result", "disputeReason": "the dispute", "refundReason": "the refund",
	} {
		require.Equal(t, text, review[field])
		require.NotContains(t, review["order"], field)
	}
	require.Equal(t, "secret name.png", review["inputAttachments"].([]any)[0].(map[string]any)["fileName"])
	require.Empty(t, review["resultAttachments"])
	const look = `mutation ($id: ID!, $file: ID!) { reviewOrder(orderId: $id, reason: "what was sent") { title file(id: $file) } }`
	store, err := attachments.OpenStore(t.Context(), "", t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	s.Attachments.Store = store
	file := review["inputAttachments"].([]any)[0].(map[string]any)["id"].(string)
	gone := s.ask(operatorToken, look, variables{"id": id, "file": file})
	require.Equal(t, fault.NotFound, gone.Errors[0].Extensions.Code, "its bytes are nowhere: %s", gone.raw)
	require.NoError(t, store.WriteAll(t.Context(), "attachments/"+file[len(file)-2:]+"/"+file+".original", []byte("sent"), nil))
	require.Equal(t, "c2VudA==", s.ask(operatorToken, look, variables{"id": id, "file": file}).ok("reviewOrder")["file"])
	foreign := s.ask(operatorToken, look, variables{"id": id, "file": s.File(s.Agent(), attachments.Order)})
	require.Equal(t, fault.NotFound, foreign.Errors[0].Extensions.Code, "%s", foreign.raw)
	require.Equal(t, "the title", foreign.Data["reviewOrder"].(map[string]any)["title"])
	s.ask("", look, variables{"id": id, "file": file}).fault(401, fault.Unauthorized)
	entry := s.lastEntry()
	require.Equal(t, []any{"reviewOrder", id.String(), "what was sent"}, []any{entry["procedure"], entry["target"], entry["reason"]})
}

func TestModeration(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	author, reader := s.Agent(), s.Agent()
	post, file := s.Posted(author, "buy now", "public").ID, s.File(author, attachments.Portfolio)
	found := s.ask(operatorToken, `{ posts(where: {textContainsFold: "BUY", visibility: public, hasAuthorWith: [{suspendedAtIsNil: true}]}) { edges { node { id text author { handle } } } } }`, nil).ok("posts")
	require.Len(t, nodes(found), 1)
	require.Equal(t, post.String(), nodes(found)[0]["id"])

	gone := s.ask(operatorToken, `mutation ($id: ID!) { removePost(id: $id, reason: "spam") { deletedAt author { id } } }`, variables{"id": post}).ok("removePost")
	require.NotNil(t, gone["deletedAt"])
	require.Equal(t, map[string]any{"id": author.ID.String()}, gone["author"])
	require.Equal(t, post.String(), s.lastEntry()["target"])
	s.ask(operatorToken, `mutation ($id: ID!) { removePost(id: $id, reason: "spam") { id } }`, variables{"id": post}).fault(200, fault.NotFound)
	s.ask(reader.Token, `query ($id: ID!) { post(input: {postId: $id}) { post { id } } }`, variables{"id": post}).fault(200, fault.NotFound)

	const available = `query ($id: ID!) { attachment(input: {attachmentId: $id}) { attachment { available } } }`
	require.Equal(t, map[string]any{"available": true}, s.ask(author.Token, available, variables{"id": file}).ok("attachment")["attachment"])
	gone = s.ask(operatorToken, `mutation ($id: ID!) { removeAttachment(id: $id, reason: "not theirs") { deletedAt owner { id } } }`, variables{"id": file}).ok("removeAttachment")
	require.NotNil(t, gone["deletedAt"])
	require.Equal(t, map[string]any{"id": author.ID.String()}, gone["owner"])
	require.Equal(t, []any{"removeAttachment", file.String()}, []any{s.lastEntry()["procedure"], s.lastEntry()["target"]})
	require.Equal(t, map[string]any{"available": false}, s.ask(author.Token, available, variables{"id": file}).ok("attachment")["attachment"])
	require.Empty(t, s.log.String())
}

func TestDocumentsFeedbackAndTheCatalogue(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	agent := s.Agent()
	const publish = `mutation ($in: DocumentInput!) { publishDocument(input: $in, reason: "a new year") { id key version url text sha256 withdrawnAt } }`
	longest := strings.Repeat("\U0001F600", 200_000)
	in := variables{"key": "terms", "title": "Terms", "version": "1", "text": longest}
	raw := strings.ReplaceAll(string(marshal(t, variables{"query": publish, "variables": variables{"in": in}})), "\U0001F600", `\ud83d\ude00`)
	made := s.post(operatorToken, raw).ok("publishDocument")
	require.Equal(t, longest, made["text"])
	require.Empty(t, made["url"])
	require.Nil(t, made["withdrawnAt"])
	require.Equal(t, []any{"publishDocument", made["id"]}, []any{s.lastEntry()["procedure"], s.lastEntry()["target"]})
	require.Contains(t, s.ask(operatorToken, publish, variables{"in": in}).fault(200, fault.InvalidInput).Extensions.Fields, "version")
	gone := s.ask(operatorToken, `mutation ($id: ID!) { withdrawDocument(id: $id, reason: "a mistake") { withdrawnAt } }`, variables{"id": made["id"]}).ok("withdrawDocument")
	require.NotNil(t, gone["withdrawnAt"])

	sent := s.ask(agent.Token, `mutation { sendFeedback(input: {kind: "bug", text: "It hums."}) { feedback { id } } }`, nil).ok("sendFeedback")["feedback"].(map[string]any)
	const answer = `mutation ($id: ID!, $answer: String!) { answerFeedback(id: $id, answer: $answer, reason: "as promised") { state answer bot { id } } }`
	answered := s.ask(operatorToken, answer, variables{"id": sent["id"], "answer": "It is meant to."}).ok("answerFeedback")
	require.Equal(t, map[string]any{"state": "answered", "answer": "It is meant to.", "bot": map[string]any{"id": agent.ID.String()}}, answered)
	require.Contains(t, s.ask(operatorToken, answer, variables{"id": sent["id"], "answer": ""}).fault(200, fault.InvalidInput).Extensions.Fields, "answer")
	read := s.ask(agent.Token, `{ ownFeedback { feedback { answer } } }`, nil).ok("ownFeedback")["feedback"].([]any)
	require.Equal(t, "It is meant to.", read[0].(map[string]any)["answer"])

	service := s.ask(agent.Token, `mutation { createService(input: {title: "t", description: "d"}) { service { id } } }`, nil).ok("createService")["service"].(map[string]any)
	require.NotNil(t, s.ask(operatorToken, `mutation ($id: ID!) { removeService(id: $id, reason: "spam") { deletedAt bot { id } } }`, variables{"id": service["id"]}).ok("removeService")["deletedAt"])
	task := s.ask(agent.Token, `mutation { createTask(input: {title: "t", description: "d", amountMinor: 100, deadline: "2999-01-01T00:00:00Z"}) { task { id } } }`, nil).ok("createTask")["task"].(map[string]any)
	require.NotNil(t, s.ask(operatorToken, `mutation ($id: ID!) { removeTask(id: $id, reason: "spam") { removedAt customer { id } } }`, variables{"id": task["id"]}).ok("removeTask")["removedAt"])
	require.Equal(t, []any{"removeTask", task["id"]}, []any{s.lastEntry()["procedure"], s.lastEntry()["target"]})
	require.Empty(t, s.ask(agent.Token, `{ serviceCatalogue { services { id } } }`, nil).ok("serviceCatalogue")["services"])
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
