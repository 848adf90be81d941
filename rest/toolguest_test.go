package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

// toolNames returns the names of the tools that a model sees.
func (m *model) toolNames() (names []string) {
	m.t.Helper()
	for tool, err := range m.session.Tools(m.t.Context(), nil) {
		require.NoError(m.t, err)
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return names
}

// A guest with only an address becomes an agent: it calls how_to_join, register, and then an agent's tools with its new token.
func TestAModelJoinsWithoutAToken(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	guest := s.modelWith("")
	require.Equal(t, []string{"how_to_join", "register"}, guest.toolNames())
	told := guest.call("how_to_join", nil)
	require.Equal(t, "open", told["registration"].(map[string]any)["registration_mode"])
	require.Contains(t, told["key_command"], "openssl")
	steps := fmt.Sprint(told["steps"])
	require.Contains(t, steps, "stoa agent import stoa-key.pem --url "+s.url+" --key agent.key", "a key of openssl opens messages, too")
	require.Contains(t, steps, "the program stoa: the Debian package")
	require.NotContains(t, steps, "ORIGIN")
	clients := make(map[string]bool)
	for _, snippet := range told["snippets"].([]any) {
		snippet := snippet.(map[string]any)
		clients[snippet["client"].(string)] = true
		for _, way := range []string{"remote", "local"} {
			require.Contains(t, snippet[way], s.url)
			require.NotContains(t, snippet[way], "ORIGIN")
			require.NotContains(t, snippet[way], "KEY")
		}
		require.Contains(t, snippet["remote"], s.url+"/mcp")
		require.Contains(t, snippet["local"], s.url+"/clients/stoa-client-")
		require.Contains(t, snippet["local"], "npx")
	}
	require.Equal(t, map[string]bool{
		"claude-code": true, "codex": true, "cursor": true, "vscode": true, "gemini-cli": true, "plain": true,
	}, clients)
	require.Len(t, guest.call("how_to_join", map[string]any{"client": "codex"})["snippets"], 1)
	require.Equal(t, "invalid_input", guest.refused("how_to_join", map[string]any{"client": "x"})["error"].(map[string]any)["code"])

	passport := map[string]any{"handle": "ada_joins", "display_name": "Ada", "encryption_public_key": s.Agent().PublicKey()}
	made := guest.call("register", passport)
	require.Equal(t, "ada_joins", made["bot"].(map[string]any)["handle"])
	require.NotEmpty(t, made["token_expires_at"])
	require.Len(t, made["next"], 2)
	require.Equal(t, "handle_unavailable", guest.refused("register", passport)["error"].(map[string]any)["code"], "it acts every time")

	ada := s.modelWith(made["token"].(string))
	me := ada.call("me", nil)
	require.Equal(t, "ada_joins", me["bot"].(map[string]any)["handle"])
	require.Contains(t, me["another_agent"], s.url+"/mcp without a token")
	ada.call("me", map[string]any{"show": "first_steps"})
	require.NotContains(t, ada.toolNames(), "register")
	require.Equal(t, told, ada.call("how_to_join", nil), "another agent of the owner joins the same way")
	_, err := guest.session.CallTool(t.Context(), &sdk.CallToolParams{Name: "me"})
	require.ErrorContains(t, err, "me", "a guest has no passport")
}

// A guest cannot send a private key, a wrong token does not count as a guest, and guests' requests are limited in size.
func TestGuestsAreBounded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	guest := s.modelWith("")
	for name, value := range map[string]any{"private_key": "x", "encryption_private_key": "x", "token": "x"} {
		refused := guest.refused("register", map[string]any{"handle": "ada_x", "display_name": "Ada", name: value})["error"].(map[string]any)
		require.Equal(t, "invalid_input", refused["code"])
	}
	list := map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
	accept := []string{"Accept", "application/json, text/event-stream"}
	s.send("POST", "/mcp", "stoa_wrong", list, accept...).fault(http.StatusUnauthorized, fault.Unauthorized)
	large := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"register","arguments":{"bio":%q}}}`, strings.Repeat("x", 64<<10))
	s.send("POST", "/mcp", "", large, accept...).fault(http.StatusRequestEntityTooLarge, fault.PayloadTooLarge)
	require.Equal(t, http.StatusOK, s.send("POST", "/mcp", s.Agent().Token, large, accept...).status)
}

// While a registration needs an owner, guests see a tool for the confirmation; otherwise they do not.
func TestAModelPassesTheMailGate(t *testing.T) {
	t.Parallel()
	s := ownerSite(t)
	guest := s.modelWith("")
	require.Equal(t, []string{"how_to_join", "owner_email", "register"}, guest.toolNames())
	require.Contains(t, guest.call("how_to_join", nil)["steps"].([]any)[0], "owner_email")
	passport := registration("ada_owned")
	require.Equal(t, "forbidden", guest.refused("register", passport)["error"].(map[string]any)["code"])
	challenge := guest.call("owner_email", map[string]any{
		"email": "owner@example.org", "handle": passport["handle"], "encryption_public_key": passport["encryption_public_key"],
	})
	mails := s.Mails("owner@example.org")
	code := map[string]any{"challenge_id": challenge["challenge_id"], "code": mailedCode.FindStringSubmatch(mails[0].Text)[1]}
	require.Equal(t, "state_conflict", guest.refused("owner_email", code)["error"].(map[string]any)["code"], "the owner has not confirmed")
	s.confirmByMail("owner@example.org", challenge["challenge_id"])
	proof := guest.call("owner_email", code)
	made := guest.call("register", changed(passport, map[string]any{
		"owner_challenge_id": challenge["challenge_id"], "owner_verification_token": proof["verification_token"],
	}))
	ada := s.modelWith(made["token"].(string))
	require.Equal(t, "verified", ada.call("me", map[string]any{"show": "first_steps"})["email_verification"].(map[string]any)["status"])
	ada.refused("owner_email", map[string]any{"email": "not an address"})
}

// From the responses to the result of a task, models need only tools: they change and withdraw responses, send and answer drafts.
func TestModelsWorkTogether(t *testing.T) {
	t.Parallel()
	_, ada, ben := newTrade(t).withModels()
	task := ada.call("post_task", map[string]any{
		"title": "A sonnet", "description": "Fourteen lines.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 500,
	})["task"].(map[string]any)
	require.Equal(t, task["id"], ada.call("find_tasks", map[string]any{"mine": true})["tasks"].([]any)[0].(map[string]any)["id"])
	answer := func(arguments map[string]any) map[string]any {
		return ben.call("answer_task", changed(map[string]any{"task_id": task["id"]}, arguments))["response"].(map[string]any)
	}
	response := answer(map[string]any{"text": "I can."})
	changedTo := answer(map[string]any{"response_id": response["id"], "amount_minor": 600})
	require.EqualValues(t, 600, changedTo["amount_minor"])
	own := ben.call("find_tasks", map[string]any{"show": "my_answers"})["responses"].([]any)[0].(map[string]any)
	require.Equal(t, response["id"], own["id"])
	require.Contains(t, own["task"].(map[string]any)["title"], "A sonnet")
	withdrawn := ben.call("take_back", map[string]any{"what": "answer", "task_id": task["id"], "response_id": response["id"]})
	require.Equal(t, "withdrawn", withdrawn["response"].(map[string]any)["state"])
	response = answer(map[string]any{"text": "I can, after all."})
	order := ada.call("choose_answer", map[string]any{
		"task_id": task["id"], "response_id": response["id"], "confirmed_total_minor": 550,
	})["order"].(map[string]any)
	told := ben.call("events", nil)["events"].([]any)
	kinds := make(map[any]map[string]any)
	for _, event := range told {
		kinds[event.(map[string]any)["kind"]] = event.(map[string]any)
	}
	require.Contains(t, kinds["task.selected"]["title"], "A sonnet")
	require.Equal(t, "contractor", kinds["task.selected"]["role"])
	require.NotEmpty(t, kinds["task.selected"]["who"].(map[string]any)["handle"])
	for _, event := range ada.call("events", nil)["events"].([]any) {
		if event := event.(map[string]any); event["kind"] == "task.responded" {
			require.NotEmpty(t, event["who"].(map[string]any)["handle"])
			require.Equal(t, "customer", event["role"])
		}
	}

	order = ben.call("act_on_order", map[string]any{
		"order_id": order["id"], "action": "start", "expected_version": order["version"],
	})["order"].(map[string]any)
	sent := map[string]any{"order_id": order["id"], "action": "send", "text": "The first verse."}
	draft := ben.call("drafts", sent)["draft"].(map[string]any)
	again := ben.call("drafts", sent)
	require.Equal(t, true, again["replayed"])
	require.Nil(t, again["now"], "a draft does not change")
	reply := ada.call("drafts", map[string]any{
		"order_id": order["id"], "action": "reply", "draft_id": draft["id"], "verdict": "changes", "text": "Lighter, please.",
	})["draft"].(map[string]any)
	require.Equal(t, "changes", reply["reply"].(map[string]any)["verdict"])
	read := ben.call("drafts", map[string]any{"order_id": order["id"]})["drafts"].([]any)
	require.Len(t, read, 1)
	require.Contains(t, read[0].(map[string]any)["reply"].(map[string]any)["text"], "Lighter, please.")
}
