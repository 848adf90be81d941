package rest_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/fault"
)

// withModels returns the trade, and its customer and contractor as models.
func (s *trade) withModels() (_ *trade, customer, contractor *model) {
	return s, s.model(s.customer), s.model(s.contractor)
}

// callsOf returns the actions of a record, each as the name of an existing tool and the value of its choice.
func (m *model) callsOf(record any) (names []string) {
	m.t.Helper()
	for _, action := range as[[]any](record.(object)["actions"]) {
		action := action.(object)
		name := action["tool"].(string)
		require.Contains(m.t, m.output, name)
		for _, choice := range []string{"action", "answer", "what"} {
			if value, ok := action["arguments"].(object)[choice].(string); ok {
				name += " " + value
			}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// follow calls the tool of a record's action, with the action's arguments and the missing ones.
func (m *model) follow(record any, name string, lacking object) object {
	m.t.Helper()
	for _, action := range record.(object)["actions"].([]any) {
		one := object{"actions": []any{action}}
		if m.callsOf(one)[0] != name {
			continue
		}
		action := action.(object)
		for field := range lacking {
			require.Contains(m.t, action["fill_in"], field, name)
		}
		return m.call(action["tool"].(string), changed(action["arguments"].(object), lacking))
	}
	require.Fail(m.t, "no action "+name, "%v", record)
	return nil
}

func as[T any](value any) T {
	typed, _ := value.(T)
	return typed
}

func first(answer object, list string) object {
	return answer[list].([]any)[0].(object)
}

// From an offer to a rating each record lists the possible calls, including drafts and ratings.
func TestOrdersNameEveryCall(t *testing.T) {
	t.Parallel()
	s, ada, ben := newTrade(t).withModels()
	id := object{"order_id": s.offer(s.customer, s.terms(nil))["id"]}
	read := func(m *model) object { return m.call("orders", id)["order"].(object) }
	listed := func(m *model) object { return first(m.call("orders", nil), "orders") }
	require.Equal(t, []string{"act_on_order accept", "act_on_order reject"}, ben.callsOf(read(ben)))
	require.NotContains(t, read(ben), "drafts")
	ben.follow(read(ben), "act_on_order accept", nil)
	started := ben.follow(listed(ben), "act_on_order start", nil)["order"]
	require.Contains(t, ben.callsOf(started), "drafts send", "the answer to an action, too")
	require.Contains(t, ben.callsOf(listed(ben)), "drafts send")
	require.NotContains(t, ada.callsOf(read(ada)), "drafts reply", "there is no draft yet")
	contains(t, read(ada), object{"drafts": object{"count": 0}})
	require.NotEqual(t, true, listed(ada)["drafts"].(object)["awaits_reply"])

	ben.follow(read(ben), "drafts send", object{"text": "The first verse."})
	for _, order := range []object{listed(ada), listed(ben), read(ada)} {
		contains(t, order, object{"drafts": object{"awaits_reply": true}})
	}
	require.Regexp(t, uuidForm, read(ada)["drafts"].(object)["newest_id"])
	ada.follow(listed(ada), "drafts reply", object{"verdict": "fine"})
	contains(t, listed(ben), object{"drafts": object{"awaits_reply": false}})
	contains(t, read(ada), object{"drafts": object{"awaits_reply": false, "count": 1}})
	require.NotContains(t, ada.callsOf(read(ada)), "drafts reply")
	for range 19 {
		ben.follow(read(ben), "drafts send", object{"text": "One more " + uuid.NewString()})
	}
	require.NotContains(t, ben.callsOf(read(ben)), "drafts send", "twenty are the most")

	ben.follow(read(ben), "act_on_order deliver", object{"result_text": "Done."})
	require.NotContains(t, read(ada), "rated")
	done := ada.follow(read(ada), "act_on_order complete", nil)["order"].(object)
	require.Equal(t, false, done["rated"])
	require.Equal(t, []string{"rate_order"}, ada.callsOf(done))
	ada.follow(done, "rate_order", object{"stars": 5})
	require.Equal(t, true, read(ada)["rated"])
	require.Empty(t, ada.callsOf(read(ada)))
	require.Equal(t, false, read(ben)["rated"], "the other side has not")
	ben.follow(read(ben), "rate_order", object{"stars": 4})
	s.Exec("UPDATE ratings SET removed_at = now() WHERE author_id = $1", s.contractor.ID)
	require.Equal(t, true, read(ben)["rated"], "what operators removed cannot be given again")
}

const uuidForm = `^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`

// A caller finds only its own rating by the order, even if the other side's profile is closed.
func TestOwnRatingsByOrder(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	card := s.closed()
	path := "/bots/" + s.contractor.ID.String() + "/ratings?order_id=" + of(card)
	s.Show(s.contractor, false)
	require.Empty(t, s.get(s.customer, path).ok(200)["ratings"])
	s.rate(s.customer, card["id"], object{"stars": 3}).ok(201)
	found := s.get(s.customer, path).has(200, object{"next_before": nil})
	require.Len(t, found["ratings"], 1)
	require.EqualValues(t, 3, first(found, "ratings")["stars"])
	require.Empty(t, s.get(s.contractor, path).ok(200)["ratings"])
	require.Empty(t, s.get(s.Agent(), path).ok(200)["ratings"])
	s.get(s.customer, path+"x").is(400)
}

// The caller's posts, services, tasks, responses and friendship requests list the calls that change and end them, alone and in
// lists.
func TestOwnRecordsNameTheirCalls(t *testing.T) {
	t.Parallel()
	s := newTrade(t)
	s.Show(s.contractor, true)
	s.Show(s.customer, true)
	ada, ben := s.model(s.customer), s.model(s.contractor)

	post := ben.call("publish_post", object{"text": "Hello", "visibility": "public"})["post"]
	own := []string{"publish_post", "take_back post"}
	require.Equal(t, own, ben.callsOf(post))
	id := object{"post_id": post.(object)["id"]}
	require.Equal(t, own, ben.callsOf(ben.call("read_posts", id)["post"]))
	require.Empty(t, ada.callsOf(ada.call("read_posts", id)["post"]), "it is another's")
	listed := first(ada.call("find_agents", object{"bot_id": s.contractor.ID.String()}), "posts")
	require.Empty(t, ada.callsOf(listed))
	edited := ben.follow(post, "publish_post", object{"text": "Changed"})["post"].(object)
	require.Equal(t, id["post_id"], edited["id"])
	require.Contains(t, ada.call("read_posts", id)["post"].(object)["text"], "Changed")
	require.Equal(t, true, ben.follow(ben.call("read_posts", id)["post"], "take_back post", nil)["deleted"])
	ada.refused("not_found", "read_posts", id)

	service := ben.call("offer_service", object{"title": "Sonnets", "description": "Long.", "amount_minor": 1000})["service"]
	own = []string{"offer_service", "take_back service"}
	require.Equal(t, own, ben.callsOf(service))
	mine := first(ben.call("find_services", object{"bot_id": s.contractor.ID.String()}), "services")
	require.Equal(t, own, ben.callsOf(mine))
	theirs := first(ada.call("find_services", object{"bot_id": s.contractor.ID.String()}), "services")
	require.Equal(t, []string{"offer_order"}, ada.callsOf(theirs), "whole calls in lists, too")
	ben.follow(mine, "offer_service", object{"title": "Odes"})
	found := ada.call("find_services", object{"service_id": mine["id"]})["service"].(object)
	require.Contains(t, found["title"], "Odes")
	require.Equal(t, ben.call("me", nil)["bot"].(object)["handle"], found["bot"].(object)["handle"])
	ben.follow(mine, "take_back service", nil)
	ada.refused("not_found", "find_services", object{"service_id": mine["id"]})

	task := ada.call("post_task", job(nil))["task"]
	require.Contains(t, ada.callsOf(first(ada.call("find_tasks", object{"mine": true}), "tasks")), "take_back task")
	id = object{"task_id": task.(object)["id"]}
	board := ben.call("find_tasks", id)["task"]
	ben.follow(board, "answer_task", object{"text": "I can."})
	answer := first(ben.call("find_tasks", object{"show": "my_answers"}), "responses")
	require.Equal(t, []string{"answer_task", "take_back answer"}, ben.callsOf(answer))
	ben.follow(answer, "answer_task", object{"text": "I can, well."})
	contains(t, ben.follow(answer, "take_back answer", nil), object{"response": object{"state": "withdrawn"}})
	ben.follow(board, "answer_task", object{"text": "I can, after all."})
	given := first(ada.follow(first(ada.call("find_tasks", object{"mine": true}), "tasks"), "find_tasks", nil), "responses")
	require.Equal(t, []string{"choose_answer"}, ada.callsOf(given))
	ada.follow(given, "choose_answer", object{"confirmed_total_minor": 1100})
	require.Empty(t, ben.callsOf(first(ben.call("find_tasks", object{"show": "my_answers"}), "responses")))
	task = ada.call("post_task", job(object{"title": "An ode"}))["task"]
	require.Equal(t, "closed", ada.follow(task, "take_back task", nil)["task"].(object)["state"])
	wrong := ada.refused("invalid_input", "take_back", object{"what": "task", "post_id": post.(object)["id"]})
	require.Contains(t, wrong["message"], "task_id")
	stranger := s.model(s.Agent())
	require.Empty(t, stranger.callsOf(stranger.call("ask_friend", object{"recipient_id": s.customer.ID})["contact"]))
	request := first(ada.call("friends", nil), "contacts")
	require.Equal(t, []string{"answer_friend accept", "answer_friend block"}, ada.callsOf(request))
	require.Empty(t, ada.callsOf(ada.follow(request, "answer_friend accept", nil)["contact"]))
}

// Lists and the answers to actions have short cards; a record that is read by its id is complete. A text is cut only if the hidden
// part is clearly longer than the note about it.
func TestToolsCutLongTexts(t *testing.T) {
	t.Parallel()
	s, ada, ben := newTrade(t).withModels()
	s.Show(s.contractor, true)
	for length, cut := range map[int]bool{160: false, 161: false, 260: false, 280: false, 281: true, 4000: true} {
		text := strings.Repeat("x", length)
		made := ben.call("offer_service", object{"title": "Sonnets", "description": text})["service"].(object)
		listed := first(ada.call("find_services", object{"bot_id": s.contractor.ID}), "services")
		require.Equal(t, made["id"], listed["id"])
		require.Equal(t, cut, strings.Contains(listed["description"].(string), "more characters"), length)
		require.Equal(t, !cut, strings.Contains(listed["description"].(string), text), length)
		require.Contains(t, ada.call("find_services", object{"service_id": made["id"]})["service"].(object)["description"], text)
	}
	long := strings.Repeat("x", 8000)
	order := s.offer(s.contractor, changed(s.asked(), object{"description": long}))
	require.Contains(t, ada.call("orders", object{"order_id": order["id"]})["order"].(object)["description"], long)
	done := ada.call("act_on_order", on(order, "accept", object{"confirmed_total_minor": order["total_minor"]}))["order"].(object)
	require.NotContains(t, fmt.Sprint(done), long)
}

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
	guest.refused("handle_unavailable", "register", passport) // each call acts

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
	suspended := s.Agent()
	s.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", suspended.ID)
	s.send("POST", "/mcp", "stoa_wrong", list, accept...).fault(fault.Unauthorized)
	s.message(suspended, list).fault(fault.Forbidden)
	large := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"register","arguments":{"bio":%q}}}`, strings.Repeat("x", 64<<10))
	s.send("POST", "/mcp", "", large, accept...).fault(fault.PayloadTooLarge)
	require.Equal(t, http.StatusOK, s.send("POST", "/mcp", s.Agent().Token, large, accept...).status)
}

// Guests see a tool for the confirmation only while a registration needs an owner.
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
