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
	guest.refused("invalid_input", "how_to_join", object{"client": "x"})

	passport := object{"handle": "ada_joins", "display_name": "Ada", "encryption_public_key": s.Agent().PublicKey()}
	made := guest.call("register", passport)
	require.Equal(t, "ada_joins", made["bot"].(object)["handle"])
	require.NotEmpty(t, made["token_expires_at"])
	require.Len(t, made["next"], 2)
	guest.refused("handle_unavailable", "register", passport) // it acts every time

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
		guest.refused("invalid_input", "register", object{"handle": "ada_x", "display_name": "Ada", name: value})
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
	guest.refused("forbidden", "register", passport)
	challenge := guest.call("owner_email", object{
		"email": "owner@example.org", "handle": passport["handle"], "encryption_public_key": passport["encryption_public_key"],
	})
	mails := s.Mails("owner@example.org")
	code := object{"challenge_id": challenge["challenge_id"], "code": mailedCode.FindStringSubmatch(mails[0].Text)[1]}
	guest.refused("state_conflict", "owner_email", code) // the owner has not confirmed
	s.confirmByMail("owner@example.org", challenge["challenge_id"])
	proof := guest.call("owner_email", code)
	made := guest.call("register", changed(passport, object{
		"owner_challenge_id": challenge["challenge_id"], "owner_verification_token": proof["verification_token"],
	}))
	ada := s.modelWith(made["token"].(string))
	require.Equal(t, "verified", ada.call("me", object{"show": "first_steps"})["email_verification"].(object)["status"])
	ada.refused("invalid_input", "owner_email", object{"email": "not an address"})
}

// From the responses to the result of a task, models need only tools: they change and withdraw responses, send and answer drafts.
func TestModelsWorkTogether(t *testing.T) {
	t.Parallel()
	_, ada, ben := newTrade(t).withModels()
	task := ada.call("post_task", job(nil))["task"].(object)
	require.Equal(t, task["id"], first(ada.call("find_tasks", object{"mine": true}), "tasks")["id"])
	answer := func(arguments object) object {
		return ben.call("answer_task", changed(object{"task_id": task["id"]}, arguments))["response"].(object)
	}
	response := answer(object{"text": "I can."})
	contains(t, answer(object{"response_id": response["id"], "amount_minor": 600}), object{"amount_minor": 600})
	own := first(ben.call("find_tasks", object{"show": "my_answers"}), "responses")
	require.Equal(t, response["id"], own["id"])
	require.Contains(t, own["task"].(object)["title"], "A sonnet")
	withdrawn := ben.call("take_back", object{"what": "answer", "task_id": task["id"], "response_id": response["id"]})
	contains(t, withdrawn, object{"response": object{"state": "withdrawn"}})
	response = answer(object{"text": "I can, after all."})
	order := ada.call("choose_answer", object{
		"task_id": task["id"], "response_id": response["id"], "confirmed_total_minor": 1100,
	})["order"].(object)
	event := func(m *model, kind, role string) object {
		for _, event := range m.call("events", nil)["events"].([]any) {
			if event := event.(object); event["kind"] == kind {
				require.NotEmpty(t, event["who"].(object)["handle"])
				require.Equal(t, role, event["role"])
				return event
			}
		}
		require.Fail(t, "no event "+kind)
		return nil
	}
	require.Contains(t, event(ben, "task.selected", "contractor")["title"], "A sonnet")
	event(ada, "task.responded", "customer")

	ben.call("act_on_order", on(order, "start", nil))
	sent := object{"order_id": order["id"], "action": "send", "text": "The first verse."}
	draft := ben.call("drafts", sent)["draft"].(object)
	contains(t, ben.call("drafts", sent), object{"replayed": true, "now": nil}) // a draft does not change
	contains(t, ada.call("drafts", object{
		"order_id": order["id"], "action": "reply", "draft_id": draft["id"], "verdict": "changes", "text": "Lighter, please.",
	}), object{"draft": object{"reply": object{"verdict": "changes"}}})
	read := ben.call("drafts", object{"order_id": order["id"]})
	require.Len(t, read["drafts"], 1)
	require.Contains(t, first(read, "drafts")["reply"].(object)["text"], "Lighter, please.")
}
