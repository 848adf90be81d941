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
	require.Equal(t, "open", told["registration"].(object)["registration_mode"])
	require.Contains(t, told["key_command"], "openssl")
	steps := fmt.Sprint(told["steps"])
	require.Contains(t, steps, "stoa agent import stoa-key.pem --url "+s.url+" --key agent.key", "a key of openssl opens messages, too")
	require.Contains(t, steps, "the program stoa: the Debian package")
	require.NotContains(t, steps, "ORIGIN")
	clients := make(map[string]bool)
	for _, snippet := range told["snippets"].([]any) {
		snippet := snippet.(object)
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
	require.Len(t, guest.call("how_to_join", object{"client": "codex"})["snippets"], 1)
	require.Equal(t, "invalid_input", guest.refused("how_to_join", object{"client": "x"})["error"].(object)["code"])

	passport := object{"handle": "ada_joins", "display_name": "Ada", "encryption_public_key": s.Agent().PublicKey()}
	made := guest.call("register", passport)
	require.Equal(t, "ada_joins", made["bot"].(object)["handle"])
	require.NotEmpty(t, made["token_expires_at"])
	require.Len(t, made["next"], 2)
	require.Equal(t, "handle_unavailable", guest.refused("register", passport)["error"].(object)["code"], "it acts every time")

	ada := s.modelWith(made["token"].(string))
	me := ada.call("me", nil)
	require.Equal(t, "ada_joins", me["bot"].(object)["handle"])
	require.Contains(t, me["another_agent"], s.url+"/mcp without a token")
	ada.call("me", object{"show": "first_steps"})
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
		refused := guest.refused("register", object{"handle": "ada_x", "display_name": "Ada", name: value})["error"].(object)
		require.Equal(t, "invalid_input", refused["code"])
	}
	list := object{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
	accept := []string{"Accept", "application/json, text/event-stream"}
	s.send("POST", "/mcp", "stoa_wrong", list, accept...).fault(fault.Unauthorized)
	large := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"register","arguments":{"bio":%q}}}`, strings.Repeat("x", 64<<10))
	s.send("POST", "/mcp", "", large, accept...).fault(fault.PayloadTooLarge)
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
	require.Equal(t, "forbidden", guest.refused("register", passport)["error"].(object)["code"])
	challenge := guest.call("owner_email", object{
		"email": "owner@example.org", "handle": passport["handle"], "encryption_public_key": passport["encryption_public_key"],
	})
	mails := s.Mails("owner@example.org")
	code := object{"challenge_id": challenge["challenge_id"], "code": mailedCode.FindStringSubmatch(mails[0].Text)[1]}
	require.Equal(t, "state_conflict", guest.refused("owner_email", code)["error"].(object)["code"], "the owner has not confirmed")
	s.confirmByMail("owner@example.org", challenge["challenge_id"])
	proof := guest.call("owner_email", code)
	made := guest.call("register", changed(passport, object{
		"owner_challenge_id": challenge["challenge_id"], "owner_verification_token": proof["verification_token"],
	}))
	ada := s.modelWith(made["token"].(string))
	require.Equal(t, "verified", ada.call("me", object{"show": "first_steps"})["email_verification"].(object)["status"])
	ada.refused("owner_email", object{"email": "not an address"})
}

// From the responses to the result of a task, models need only tools: they change and withdraw responses, send and answer drafts.
func TestModelsWorkTogether(t *testing.T) {
	t.Parallel()
	_, ada, ben := newTrade(t).withModels()
	task := ada.call("post_task", object{
		"title": "A sonnet", "description": "Fourteen lines.", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 500,
	})["task"].(object)
	require.Equal(t, task["id"], ada.call("find_tasks", object{"mine": true})["tasks"].([]any)[0].(object)["id"])
	answer := func(arguments object) object {
		return ben.call("answer_task", changed(object{"task_id": task["id"]}, arguments))["response"].(object)
	}
	response := answer(object{"text": "I can."})
	changedTo := answer(object{"response_id": response["id"], "amount_minor": 600})
	require.EqualValues(t, 600, changedTo["amount_minor"])
	own := ben.call("find_tasks", object{"show": "my_answers"})["responses"].([]any)[0].(object)
	require.Equal(t, response["id"], own["id"])
	require.Contains(t, own["task"].(object)["title"], "A sonnet")
	withdrawn := ben.call("take_back", object{"what": "answer", "task_id": task["id"], "response_id": response["id"]})
	require.Equal(t, "withdrawn", withdrawn["response"].(object)["state"])
	response = answer(object{"text": "I can, after all."})
	order := ada.call("choose_answer", object{
		"task_id": task["id"], "response_id": response["id"], "confirmed_total_minor": 550,
	})["order"].(object)
	told := ben.call("events", nil)["events"].([]any)
	kinds := make(map[any]object)
	for _, event := range told {
		kinds[event.(object)["kind"]] = event.(object)
	}
	require.Contains(t, kinds["task.selected"]["title"], "A sonnet")
	require.Equal(t, "contractor", kinds["task.selected"]["role"])
	require.NotEmpty(t, kinds["task.selected"]["who"].(object)["handle"])
	for _, event := range ada.call("events", nil)["events"].([]any) {
		if event := event.(object); event["kind"] == "task.responded" {
			require.NotEmpty(t, event["who"].(object)["handle"])
			require.Equal(t, "customer", event["role"])
		}
	}

	order = ben.call("act_on_order", object{
		"order_id": order["id"], "action": "start", "expected_version": order["version"],
	})["order"].(object)
	sent := object{"order_id": order["id"], "action": "send", "text": "The first verse."}
	draft := ben.call("drafts", sent)["draft"].(object)
	again := ben.call("drafts", sent)
	require.Equal(t, true, again["replayed"])
	require.Nil(t, again["now"], "a draft does not change")
	reply := ada.call("drafts", object{
		"order_id": order["id"], "action": "reply", "draft_id": draft["id"], "verdict": "changes", "text": "Lighter, please.",
	})["draft"].(object)
	require.Equal(t, "changes", reply["reply"].(object)["verdict"])
	read := ben.call("drafts", object{"order_id": order["id"]})["drafts"].([]any)
	require.Len(t, read, 1)
	require.Contains(t, read[0].(object)["reply"].(object)["text"], "Lighter, please.")
}
