package server_test

import (
	"encoding/base64"
	"maps"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/webhooks"
)

// stories go through every operation of an agent, over both transports at once. They refuse inputs that each transport reads by
// itself. Refusals because of a state come from the domains, whose methods both transports call.
var stories = map[string]func(*twins){"identity": identity, "friendship": friendship, "money": money, "work": work, "publication": publication,
	"catalogue": catalogue, "assignment": assignment, "opinion": opinion, "ownership": ownership, "outbox": outbox,
	"hooks": hooks, "leaving": leaving}

func TestRestAndGraphQLAgree(t *testing.T) {
	t.Parallel()
	covered := new(sync.Map)
	t.Run("stories", func(t *testing.T) {
		for name, tell := range stories {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				s := newSite(t, graphtest.WithMail(new(graphtest.Mailbox)), graphtest.WithWebhooks(webhooks.SenderConfig{}))
				rest, graphql := s.Agent(), s.Agent()
				tell(&twins{site: s, rest: rest, graphql: graphql, covered: covered, pairs: map[string]string{
					rest.PublicKey(): graphql.PublicKey(), "twin_one": "twin_two", "ada@example.org": "bea@example.org",
				}})
			})
		}
	})
	for name, field := range rootFields() {
		_, compared := covered.Load(field.Name)
		require.Equal(t, who(field) != "operator", compared, name)
	}
}

// made returns the id of a record of an answer, or of the first one of a list.
func made(answer map[string]any, name string) string {
	if list, ok := answer[name].([]any); ok {
		return list[0].(map[string]any)["id"].(string)
	}
	return answer[name].(map[string]any)["id"].(string)
}

// with returns the values with another one.
func with(sent vars, name string, value any) vars {
	changed := maps.Clone(sent)
	changed[name] = value
	return changed
}

func identity(w *twins) {
	const register, update = "POST /bots/register registerBot", "PATCH /bots/me updateMe"
	card := vars{
		"handle": "twin_one", "display_name": " Twin ", "encryption_public_key": w.rest.PublicKey(), "specialty": "echo",
		"bio": "a\nb", "character_description": "grey", "profile_public": false, "invitation": "none",
	}
	w.anyone().same(register, card)
	w.anyone().refused(fault.HandleUnavailable, register, card)
	w.anyone().refused(fault.InvalidInput, register, vars{})
	w.anyone().refused(fault.InvalidInput, register, vars{"handle": "twin_3", "display_name": "", "encryption_public_key": "AAAA"})
	w.same("GET /bots/me me", nil)
	w.same("GET /bots/me/onboarding onboarding", nil)
	w.same(update, vars{"display_name": "New", "profile_public": true, "avatar_attachment_id": nil})
	w.same(update, vars{"character_attachment_id": nil})
	w.refused(fault.InvalidInput, update, vars{}, vars{"avatar_attachment_id": "x", "bio": strings.Repeat("x", 4001)})
	require.NotEmpty(w.t, w.same("POST /tokens/rotate rotateToken", nil)["token"])
	w.refused(fault.Unauthorized, "POST /tokens/revoke revokeToken", nil)
}

func ownership(w *twins) {
	const requirements, restore = "GET /registration/requirements registrationRequirements", "POST /bots/restore/request requestRestore"
	const ask, verify = "POST /registration/email/request requestRegistrationEmail", "POST /registration/email/verify verifyRegistrationEmail"
	const link, linked = "POST /bots/me/owner-email/request requestOwnerEmail", "POST /bots/me/owner-email/verify verifyOwnerEmail"
	anyone, owner := w.anyone(), vars{"handle": "twin_one", "email": "ada@example.org"}
	passport := with(owner, "encryption_public_key", w.rest.PublicKey())
	anyone.same(requirements, nil)
	anyone.refused(fault.VerificationSetupPending, ask, passport)
	anyone.refused(fault.LifecycleSetupPending, restore, owner)
	w.RequireOwners()
	anyone.same(requirements, nil)
	anyone.refused(fault.InvalidInput, ask, vars{"email": "ada", "handle": "Twin"})
	anyone.same(ask, passport)
	anyone.same(restore, owner)

	// code returns the newest challenge and its code.
	code := func() vars {
		w.Exec("UPDATE email_challenges SET confirmed_at = stoa_now(), documents = '[]' WHERE confirmed_at IS NULL")
		latest := func(address string) uuid.UUID {
			return graphtest.Column[uuid.UUID](w.World, "SELECT id FROM email_challenges WHERE address = $1 ORDER BY id DESC", address)[0]
		}
		ada, bea := latest("ada@example.org"), latest("bea@example.org")
		w.pairs[ada.String()], w.pairs[w.Email.Code(ada)] = bea.String(), w.Email.Code(bea)
		return vars{"challenge_id": ada, "code": w.Email.Code(ada)}
	}
	anyone.refused(fault.InvalidInput, verify, vars{"challenge_id": "x", "code": "1"})
	anyone.same(verify, code())
	w.same(link, vars{"email": "ada@example.org"})
	w.refused(fault.InvalidInput, linked, vars{})
	w.same(linked, code())
}

func hooks(w *twins) {
	const create = "POST /webhooks createWebhook"
	w.same(create, vars{"url": "https://agent.example/hook", "kinds": []string{"message.created"}, "own": false, "signing": "v1a"})
	w.refused(fault.InvalidInput, create, vars{}, vars{"url": "http://agent.example/", "kinds": []string{}, "signing": "v0"})
	hook := vars{"webhook_id": made(w.same("GET /webhooks myWebhooks", nil), "webhooks")}
	const update = "PATCH /webhooks/{webhook_id} updateWebhook"
	for _, step := range []struct {
		step string
		sent vars
	}{
		{"GET /webhooks/{webhook_id} myWebhook", hook}, {update, with(hook, "state", "paused")}, {update, with(hook, "own", true)},
		{"POST /webhooks/{webhook_id}/test testWebhook", hook}, {"GET /webhooks/{webhook_id}/deliveries myWebhookDeliveries", hook},
	} {
		w.same(step.step, step.sent)
		w.refused(fault.InvalidID, step.step, with(step.sent, "webhook_id", "x"))
	}
	w.refused(fault.StateConflict, "POST /webhooks/{webhook_id}/rotate rotateWebhookSecret", hook)
	w.refused(fault.InvalidInput, update, hook)
	w.same("DELETE /webhooks/{webhook_id} deleteWebhook", hook)
}

func friendship(w *twins) {
	const ask, accept, block = "POST /contacts/requests requestContact", "POST /contacts/{contact_id}/accept acceptContact", "POST /contacts/blocks blockBot"
	peer := w.Agent()
	for range 2 {
		w.same(ask, vars{"recipient_id": peer.ID})
	}
	w.refused(fault.InvalidID, ask, vars{"recipient_id": "nobody"}, vars{})
	contact := vars{"contact_id": made(w.same("GET /contacts myContacts", nil), "contacts")}
	w.refused(fault.InvalidID, "GET /contacts myContacts", vars{"before": 5})
	w.refused(fault.InvalidID, accept, vars{"contact_id": "x"})
	w.same(block, vars{"bot_id": w.Agent().ID})
	w.refused(fault.InvalidID, block, vars{"bot_id": "nobody"})

	for range 3 { // all agents here look alike, and no card names more
		w.Befriend(peer, w.Agent())
	}
	w.by(peer, peer).same(accept, contact)
	const send = "POST /messages sendMessage"
	require.NotEmpty(w.t, w.same(send, vars{
		"recipient_id": peer.ID, "client_message_id": uuid.NewString(), "nonce": base64.StdEncoding.EncodeToString([]byte("twenty-four-bytes-of-rest")[:24]),
		"ciphertext": base64.StdEncoding.EncodeToString(make([]byte, 16)), "encryption_version": "box-v1",
		"sender_public_key": w.rest.PublicKey(), "recipient_public_key": peer.PublicKey(),
	})["message"])
	require.Len(w.t, w.same("GET /messages dialog", vars{"peer": peer.ID})["messages"], 1)
	w.refused(fault.EncryptedEnvelopeRequired, send, vars{"recipient_id": peer.ID, "client_message_id": uuid.NewString()})
	w.by(peer, peer).same("POST /contacts/{contact_id}/block blockContact", contact)
}

func money(w *twins) {
	const history = "GET /wallet/history walletHistory"
	require.NotEmpty(w.t, w.same("GET /wallet myWallet", nil)["wallet"])
	require.Len(w.t, w.same(history, nil)["entries"], 1)
	w.same(history, vars{"limit": 1, "before": "1"})
	w.refused(fault.InvalidInput, history, vars{"limit": 0}, vars{"before": "01"})
}

func work(w *twins) {
	const quote, create, list = "POST /orders/quote quoteOrder", "POST /orders createOrder", "GET /orders myOrders"
	peer := w.Agent()
	contractor := w.by(peer, peer)
	w.Befriend(w.rest, peer)
	w.Befriend(w.graphql, peer)
	w.same(quote, vars{"amount_minor": 1005})
	w.refused(fault.InvalidInput, quote, vars{"amount_minor": 0})
	offer := vars{
		"operation_id": uuid.NewString(), "title": " A poem ", "description": "of four\nlines", "deadline": "2999-01-01T00:00:00.5+01:00",
		"amount_minor": 1000, "contractor_id": peer.ID, "confirmed_total_minor": 1100,
	}
	order := vars{"order_id": made(w.same(create, offer), "order")}
	require.Equal(w.t, order["order_id"], made(w.same(create, offer), "order"))
	w.refused(fault.InvalidInput, create, vars{"title": "", "deadline": "tomorrow", "amount_minor": -1, "customer_id": peer.ID})
	require.Len(w.t, w.same(list, vars{"state": "offered", "page_size": 1})["orders"], 1)
	w.refused(fault.InvalidPagination, list, vars{"page": 0})
	w.refused(fault.InvalidInput, list, vars{"state": "lost"})
	const read, nowhere = "GET /orders/{order_id} order", "x"
	require.Len(w.t, w.same(read, order)["events"], 1)
	w.refused(fault.InvalidID, read, vars{"order_id": nowhere})

	act := func(action string) vars {
		return vars{"order_id": order["order_id"], "action": action, "operation_id": uuid.NewString()}
	}
	contractor.refused(fault.InvalidInput, "POST /orders/{order_id}/{action} orderAct", act("accept"))
	contractor.same("POST /orders/{order_id}/{action} orderAct", with(act("accept"), "expected_version", 1))
	w.same("POST /orders/{order_id}/{action} orderAct", with(with(act("propose-refund"), "expected_version", 2), "reason", "it\nwent wrong"))
	require.Len(w.t, w.same(read, order)["events"], 3)

	const send, drafts = "POST /orders/{order_id}/drafts sendDraft", "GET /orders/{order_id}/drafts orderDrafts"
	w.Exec("UPDATE orders SET state = 'in_progress' WHERE contractor_id = $1", peer.ID)
	contractor.same(send, vars{"order_id": order["order_id"], "operation_id": uuid.NewString(), "text": "The\nfirst verse."})
	contractor.refused(fault.InvalidInput, send, with(order, "operation_id", "x"))
	shown := w.same(drafts, order)
	require.Len(w.t, shown["drafts"], 1)
	w.same("POST /orders/{order_id}/drafts/{draft_id}/reply replyToDraft",
		vars{"order_id": order["order_id"], "draft_id": made(shown, "drafts"), "operation_id": uuid.NewString(), "verdict": "fine"})

	const rate, receipt, receipts = "POST /orders/{order_id}/rating rateOrder", "GET /orders/{order_id}/receipt orderReceipt", "GET /receipts myReceipts"
	w.Exec("UPDATE orders SET state = 'closed', outcome = 'accepted' WHERE contractor_id = $1", peer.ID)
	w.same(rate, vars{"order_id": order["order_id"], "operation_id": uuid.NewString(), "stars": 4, "text": "On\ntime."})
	w.refused(fault.InvalidInput, rate, vars{"order_id": order["order_id"], "operation_id": "x", "stars": 6})
	w.refused(fault.InvalidID, rate, vars{"order_id": nowhere, "operation_id": "x", "stars": 6})
	w.refused(fault.NotFound, receipt, order)
	graphtest.OK(w.t)(w.Receipts.Sign(w.t.Context()))
	for range 2 { // the first one may begin the log
		graphtest.OK(w.t)(w.KeyLog.Sequence(w.t.Context()))
	}
	require.Len(w.t, w.same(receipt, order)["receipt"].(map[string]any)["ratings"], 1)
	w.refused(fault.InvalidID, receipt, vars{"order_id": nowhere})
	require.Len(w.t, w.same(receipts, nil)["receipts"], 1)
	w.refused(fault.InvalidID, receipts, vars{"before": 5})
	ratings := vars{"bot_id": peer.ID}
	require.Len(w.t, w.same("GET /bots/{bot_id}/ratings botRatings", ratings)["ratings"], 2)
	w.refused(fault.InvalidID, "GET /bots/{bot_id}/ratings botRatings", with(ratings, "before", 5))
}

// outbox is the story of events without a socket.
func outbox(w *twins) {
	const poll, acknowledge = "GET /events pollEvents", "POST /events/acks acknowledgeEvents"
	peer := w.Agent()
	w.Asked(peer, w.rest)
	w.Asked(peer, w.graphql)
	found := w.same(poll, nil)["events"].([]any)
	require.Len(w.t, found, 1)
	w.same(poll, vars{"limit": 1, "version": 2})
	w.refused(fault.InvalidInput, poll, vars{"limit": 0}, vars{"version": 3})
	w.same(poll, vars{"own": "false"})
	w.refused(fault.InvalidInput, poll, vars{"own": "no"})

	mine := found[0].(map[string]any)["event_id"].(string)
	theirs := w.pairs[mine]
	w.pairs[theirs] = mine
	for range 2 {
		require.Len(w.t, w.same(acknowledge, vars{"event_ids": []any{mine}})["acked"], 1)
	}
	require.Len(w.t, w.same(acknowledge, vars{"event_ids": []any{theirs}})["unknown"], 1)
	w.refused(fault.InvalidInput, acknowledge, vars{"event_ids": []any{"x"}}, vars{})
	require.Empty(w.t, w.same(poll, nil)["events"])
}

// publication is the story of posts, cards and files.
func publication(w *twins) {
	const create, update, read, list = "POST /posts createPost", "PATCH /posts/{post_id} updatePost", "GET /posts/{post_id} post", "GET /posts feed"
	mine := w.File(w.rest, attachments.Portfolio).String()
	w.pairs[mine] = w.File(w.graphql, attachments.Portfolio).String()
	post := vars{"post_id": made(w.same(create, vars{
		"text": "made of\nlines", "title": " A work ", "kind": "portfolio", "visibility": "public", "attachment_ids": []any{mine}, "rights_confirmed": true,
	}), "post")}
	w.same(create, vars{"text": "a note", "attachment_ids": []any{}})
	w.refused(fault.InvalidText, create, vars{})
	w.refused(fault.InvalidField, create, vars{"text": "x", "attachment_ids": []any{"x"}})
	w.same(update, with(post, "title", ""))
	w.same(update, vars{"post_id": post["post_id"], "text": "made of words", "kind": "update", "rights_confirmed": true})
	w.refused(fault.InvalidField, update, post)
	w.refused(fault.InvalidKind, update, with(post, "kind", ""))
	w.refused(fault.InvalidID, update, vars{"post_id": "x", "text": "x"})
	reading := w.by(w.Agent(), w.Agent())
	w.same(read, post)
	reading.same(read, post)
	w.refused(fault.InvalidID, read, vars{"post_id": "x"})
	require.Len(w.t, reading.same(list, nil)["posts"], 2)
	require.Len(w.t, reading.same(list, vars{"page": 1, "page_size": "1", "kind": "update"})["posts"], 1)
	w.refused(fault.InvalidPagination, list, vars{"page": 0})
	w.refused(fault.InvalidKind, list, vars{"kind": "poem"})

	const file = "GET /attachments/{attachment_id} attachment"
	name := func(as *twins) any {
		return as.same(file, vars{"attachment_id": mine})["attachment"].(map[string]any)["file_name"]
	}
	require.NotNil(w.t, name(w))
	require.Nil(w.t, name(reading))
	require.Nil(w.t, name(w.anyone()))
	w.refused(fault.InvalidID, file, vars{"attachment_id": "x"})
	cards(w)
	w.same("DELETE /posts/{post_id} deletePost", post)
}

// cards are of an agent that both twins look at, or look for.
func cards(w *twins) {
	const search, card = "GET /bots searchBots", "GET /bots/{bot_id} botCard"
	peer := w.Agent()
	w.Posted(peer, "something rare", "public")
	w.Befriend(w.rest, peer)
	w.Befriend(w.graphql, peer)
	found := w.same(search, vars{"q": "RARE", "page_size": 1})["bots"].([]any)
	require.Len(w.t, found, 1)
	require.NotEmpty(w.t, found[0].(map[string]any)["actions"])
	require.Empty(w.t, w.same(search, vars{"specialty": "nothing"})["bots"])
	require.Len(w.t, w.same(card, vars{"bot_id": peer.ID})["posts"], 1)
	require.Empty(w.t, w.same(card, vars{"bot_id": peer.ID, "kind": "portfolio", "page": 2})["posts"])
	w.refused(fault.InvalidID, card, vars{"bot_id": "x"})
}

// assignment is the story of tasks: one is given away, one is closed.
func assignment(w *twins) {
	const create, read, list = "POST /tasks createTask", "GET /tasks/{task_id} task", "GET /tasks taskBoard"
	terms := vars{"title": " A sonnet ", "description": "of fourteen\nlines", "deadline": "2999-01-01T00:00:00Z", "amount_minor": 1000}
	task := vars{"task_id": made(w.same(create, terms), "task")}
	w.refused(fault.InvalidInput, create, vars{}, vars{"title": "", "description": "", "deadline": "tomorrow", "amount_minor": 0})
	w.refused(fault.InvalidInput, "PUT /tasks/watch watchTasks", vars{"q": strings.Repeat("x", 161), "min_amount_minor": 0})
	w.same("PUT /tasks/watch watchTasks", vars{"q": "poem", "min_amount_minor": 5})
	w.same("GET /tasks/watch taskWatch", nil)
	w.same("DELETE /tasks/watch unwatchTasks", nil)
	anyone := w.anyone()
	anyone.same(read, task)
	w.same(read, task)
	w.refused(fault.InvalidID, read, vars{"task_id": "x"})
	require.Len(w.t, anyone.same(list, nil)["tasks"], 2)
	require.Len(w.t, anyone.same(list, vars{"q": "SONNET", "page": "1", "page_size": 1})["tasks"], 1)
	require.Empty(w.t, anyone.same(list, vars{"q": "zz"})["tasks"])
	require.Empty(w.t, anyone.same(list, vars{"state": "closed"})["tasks"])
	anyone.refused(fault.InvalidInput, list, vars{"state": "lost"})

	const respond, responses = "POST /tasks/{task_id}/responses respondToTask", "GET /tasks/{task_id}/responses taskResponses"
	agent := w.Agent()
	peer, offer := w.by(agent, agent), vars{"task_id": task["task_id"], "text": "I\nscan", "amount_minor": 1005}
	peer.refused(fault.InvalidInput, respond, with(task, "amount_minor", 0))
	peer.refused(fault.InvalidID, respond, vars{"task_id": "x", "text": "I"})
	response := with(task, "response_id", made(peer.same(respond, offer), "response"))
	require.Len(w.t, peer.same(responses, task)["responses"], 1)
	require.Len(w.t, w.same(responses, task)["responses"], 1)
	require.Len(w.t, peer.same("GET /tasks/responses listOwnResponses", nil)["responses"], 2)
	require.Len(w.t, w.same(list, vars{"mine": "true"})["tasks"], 1)
	anyone.refused(fault.InvalidInput, list, vars{"mine": "no"})
	anyone.refused(fault.Unauthorized, list, vars{"mine": "true"})
	const update = "PATCH /tasks/{task_id}/responses/{response_id} updateResponse"
	peer.refused(fault.InvalidInput, update, response)
	require.Equal(w.t, "You", peer.same(update, with(response, "text", "You"))["response"].(map[string]any)["text"])
	peer.same("DELETE /tasks/{task_id}/responses/{response_id} withdrawResponse", response)

	const choose = "POST /tasks/{task_id}/select selectResponse"
	choice := vars{"task_id": task["task_id"], "operation_id": uuid.NewString(), "response_id": made(peer.same(respond, offer), "response")}
	w.refused(fault.InvalidInput, choose, choice)
	w.refused(fault.PriceChanged, choose, with(choice, "confirmed_total_minor", 1105))
	choice = with(with(choice, "operation_id", uuid.NewString()), "confirmed_total_minor", 1106)
	funded := w.same(choose, choice)
	require.Equal(w.t, funded, w.same(choose, choice))
	w.same(read, task)
	peer.same(read, task)
	w.same("POST /tasks/{task_id}/close closeTask", vars{"task_id": made(w.same(create, terms), "task")})
	require.Len(w.t, anyone.same(list, vars{"state": "selected"})["tasks"], 2)
}

// catalogue is the story of services.
func catalogue(w *twins) {
	const create, update, read = "POST /services createService", "PATCH /services/{service_id} updateService", "GET /services/{service_id} service"
	const list = "GET /services serviceCatalogue"
	service := vars{"service_id": made(w.same(create, vars{"title": " Translation ", "description": "From French.\nTo Latin."}), "service")}
	w.refused(fault.InvalidInput, create, vars{"title": "", "description": ""})
	w.same(update, with(service, "title", "Interpretation"))
	w.refused(fault.InvalidInput, update, service)
	w.refused(fault.InvalidID, update, vars{"service_id": "x", "title": "x"})
	anyone := w.anyone()
	anyone.same(read, service)
	w.same(read, service)
	w.refused(fault.InvalidID, read, vars{"service_id": "x"})
	require.Len(w.t, anyone.same(list, nil)["services"], 2)
	require.Len(w.t, anyone.same(list, vars{"q": "FRENCH", "page": "1", "page_size": 1})["services"], 1)
	require.Empty(w.t, anyone.same(list, vars{"q": "zz"})["services"])
	w.same("DELETE /services/{service_id} deleteService", service)
}

// opinion is the story of feedback.
func opinion(w *twins) {
	const send, list, notices = "POST /feedback sendFeedback", "GET /feedback ownFeedback", "GET /notices notices"
	w.same(send, vars{"kind": "bug", "text": "It hums.\n"})
	w.same(send, vars{"kind": "idea", "text": "Let it sing."})
	w.same(send, vars{"kind": "report", "text": "Spam.", "subject": vars{"type": "bot", "id": w.Agent().ID}})
	w.refused(fault.InvalidInput, send, vars{"kind": "praise", "text": strings.Repeat("x", 4001)})
	all := w.same(list, nil)
	require.Len(w.t, all["feedback"], 3)
	require.Len(w.t, w.same(list, vars{"before": made(all, "feedback")})["feedback"], 2)
	w.refused(fault.InvalidID, list, vars{"before": "x"})

	w.Exec(`INSERT INTO notices (id, created_at, bot_id, about_type, about_id, text)
		SELECT gen_random_uuid(), stoa_now(), id, 'bot', id, 'Stop.' FROM bots`)
	require.Len(w.t, w.same(notices, nil)["notices"], 1)
	w.refused(fault.InvalidID, notices, vars{"before": "x"})
}

// leaving is the story of exports and erasures.
func leaving(w *twins) {
	const create, read, request = "POST /exports createExport", "GET /exports/{export_id} export", "POST /bots/me/erasure requestErasure"
	asked := vars{"operation_id": uuid.NewString(), "include_files": false}
	export := vars{"export_id": made(w.same(create, asked), "export")}
	w.same(create, asked)
	w.refused(fault.InvalidInput, create, vars{})
	w.same(read, export)
	w.refused(fault.InvalidID, read, vars{"export_id": "x"})
	w.refused(fault.InvalidInput, request, vars{})
	handle := w.same("GET /bots/me me", nil)["bot"].(map[string]any)["handle"]
	w.same(request, vars{"operation_id": uuid.NewString(), "confirm_handle": handle})
	w.same("GET /bots/me/erasure erasure", nil)
	w.same("DELETE /bots/me/erasure cancelErasure", nil)
}
