package server_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

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
				tell(&twins{site: s, rest: s.Agent(), graphql: s.Agent(), covered: covered})
			})
		}
	})
	for name, field := range rootFields() {
		_, compared := covered.Load(field.Name)
		require.Equal(t, who(field) != "operator", compared, name)
	}
}

func identity(w *twins) {
	register := op("POST /bots/register", "registerBot", vars{
		"handle": "twin_one", "display_name": " Twin ", "encryption_public_key": w.rest.PublicKey(), "specialty": "echo",
		"bio": "a\nb", "character_description": "grey", "profile_public": false, "invitation": "none",
	}).twin(vars{"handle": "twin_two"}).anyone()
	w.same(register)
	w.refused(fault.HandleUnavailable, register)
	for _, body := range []vars{{}, {"handle": "twin_3", "display_name": "", "encryption_public_key": "AAAA"}} {
		w.refused(fault.InvalidInput, op("POST /bots/register", "registerBot", body).anyone())
	}
	w.same(op("GET /bots/me", "me"))
	w.same(op("GET /bots/me/onboarding", "onboarding"))
	update := func(body vars) operation { return op("PATCH /bots/me", "updateMe", body) }
	w.same(update(vars{"display_name": "New", "profile_public": true, "avatar_attachment_id": nil}))
	w.same(update(vars{"character_attachment_id": nil}))
	w.refused(fault.InvalidInput, update(vars{}))
	w.refused(fault.InvalidInput, update(vars{"avatar_attachment_id": "x", "bio": strings.Repeat("x", 4001)}))
	granted := w.same(op("POST /tokens/rotate", "rotateToken"))
	w.refused(fault.Unauthorized, op("POST /tokens/revoke", "revokeToken"))
	require.NotEmpty(w.t, granted["token"])
}

func ownership(w *twins) {
	requirements := op("GET /registration/requirements", "registrationRequirements").anyone()
	w.same(requirements)
	ask := func(body vars) operation {
		return op("POST /registration/email/request", "requestRegistrationEmail", body).anyone()
	}
	request := ask(vars{"email": "ada@example.org", "handle": "twin_one", "encryption_public_key": w.rest.PublicKey()}).
		twin(vars{"email": "bea@example.org", "handle": "twin_two"})
	w.refused(fault.VerificationSetupPending, request)
	restore := op("POST /bots/restore/request", "requestRestore", vars{"handle": "twin_one", "email": "ada@example.org"}).anyone()
	w.refused(fault.LifecycleSetupPending, restore)
	w.RequireOwners()
	w.same(requirements)
	w.refused(fault.InvalidInput, ask(vars{"email": "ada", "handle": "Twin"}))
	w.same(request)
	w.same(restore)

	// code returns the operation that enters the codes of the newest challenges, over either transport.
	code := func(path, field string, anonymous bool) operation {
		w.Exec("UPDATE email_challenges SET confirmed_at = stoa_now(), documents = '[]' WHERE confirmed_at IS NULL")
		latest := func(address string) uuid.UUID {
			return graphtest.Column[uuid.UUID](w.World, "SELECT id FROM email_challenges WHERE address = $1 ORDER BY id DESC", address)[0]
		}
		ada, bea := latest("ada@example.org"), latest("bea@example.org")
		return operation{method: "POST", path: path, field: field, anonymous: anonymous,
			body:    vars{"challenge_id": ada, "code": w.Email.Code(ada)},
			graphql: vars{"challengeId": bea, "code": w.Email.Code(bea)}}
	}
	verify := code("/registration/email/verify", "verifyRegistrationEmail", true)
	w.refused(fault.InvalidInput, op("POST "+verify.path, verify.field, vars{"challenge_id": "x", "code": "1"}).anyone())
	w.same(verify)
	link := op("POST /bots/me/owner-email/request", "requestOwnerEmail", vars{"email": "ada@example.org"}).twin(vars{"email": "bea@example.org"})
	w.same(link)
	linked := code("/bots/me/owner-email/verify", "verifyOwnerEmail", false)
	w.refused(fault.InvalidInput, op("POST "+linked.path, linked.field, vars{}))
	w.same(linked)
}

func hooks(w *twins) {
	create := func(body vars) operation { return op("POST /webhooks", "createWebhook", body) }
	w.same(create(vars{"url": "https://agent.example/hook", "kinds": []string{"message.created"}, "own": false, "signing": "v1a"}))
	w.refused(fault.InvalidInput, create(vars{}))
	w.refused(fault.InvalidInput, create(vars{"url": "http://agent.example/", "kinds": []string{}, "signing": "v0"}))
	list := op("GET /webhooks", "myWebhooks")
	id := w.same(list)["webhooks"].([]any)[0].(map[string]any)["id"].(string)
	other := w.overGraphQL(list).ok("myWebhooks")["webhooks"].([]any)[0].(map[string]any)["id"]
	on := func(method, verb, field string, body vars) operation {
		return op(method+" /webhooks/"+id+verb, field, body, vars{"webhookId": other})
	}
	nobody := func(op operation) operation {
		op.path, op.more = strings.Replace(op.path, id, "x", 1), vars{"webhookId": "x"}
		return op
	}
	for _, op := range []operation{
		on("GET", "", "myWebhook", nil), on("PATCH", "", "updateWebhook", vars{"state": "paused"}),
		on("PATCH", "", "updateWebhook", vars{"own": true}), on("POST", "/test", "testWebhook", nil),
		on("GET", "/deliveries", "myWebhookDeliveries", nil),
	} {
		w.same(op)
		w.refused(fault.InvalidID, nobody(op))
	}
	w.refused(fault.StateConflict, on("POST", "/rotate", "rotateWebhookSecret", nil))
	w.refused(fault.InvalidInput, on("PATCH", "", "updateWebhook", vars{}))
	w.same(on("DELETE", "", "deleteWebhook", nil))
}

func friendship(w *twins) {
	peer := w.Agent()
	ask := func(id string) operation {
		return op("POST /contacts/requests", "requestContact", vars{"recipient_id": id})
	}
	w.same(ask(peer.ID.String()))
	w.same(ask(peer.ID.String()))
	w.refused(fault.InvalidID, ask("nobody"))
	w.refused(fault.InvalidID, op("POST /contacts/requests", "requestContact", vars{}))
	list := op("GET /contacts", "myContacts")
	rest := w.same(list)["contacts"].([]any)
	graphql := w.overGraphQL(list).ok("myContacts")["contacts"].([]any)
	w.refused(fault.InvalidID, op("GET /contacts?before=5", "myContacts", nil, vars{"before": 5}))

	act := func(verb, field, id string, other any) operation {
		return op("POST /contacts/"+id+"/"+verb, field, nil, vars{"contactId": other})
	}
	mine, theirs := rest[0].(map[string]any)["id"].(string), graphql[0].(map[string]any)["id"]
	w.refused(fault.InvalidID, act("accept", "acceptContact", "x", "x"))
	block := func(id string) operation { return op("POST /contacts/blocks", "blockBot", vars{"bot_id": id}) }
	w.same(block(w.Agent().ID.String()))
	w.refused(fault.InvalidID, block("nobody"))

	accepting := &twins{site: w.site, rest: peer, graphql: peer, covered: w.covered}
	for range 3 { // all agents here look alike, and no card names more
		w.Befriend(peer, w.Agent())
	}
	accepting.same(act("accept", "acceptContact", mine, theirs))
	send := op("POST /messages", "sendMessage", vars{
		"recipient_id": peer.ID, "client_message_id": uuid.NewString(), "nonce": base64.StdEncoding.EncodeToString([]byte("twenty-four-bytes-of-rest")[:24]),
		"ciphertext": base64.StdEncoding.EncodeToString(make([]byte, 16)), "encryption_version": "box-v1",
		"sender_public_key": w.rest.PublicKey(), "recipient_public_key": peer.PublicKey(),
	}).twin(vars{"senderPublicKey": w.graphql.PublicKey()})
	require.NotEmpty(w.t, w.same(send)["message"])
	dialog := op("GET /messages?peer="+peer.ID.String(), "dialog", nil, vars{"peer": peer.ID})
	require.Len(w.t, w.same(dialog)["messages"], 1)
	w.refused(fault.EncryptedEnvelopeRequired, op("POST /messages", "sendMessage", vars{
		"recipient_id": peer.ID, "client_message_id": uuid.NewString()}))
	accepting.same(act("block", "blockContact", mine, theirs))
}

func money(w *twins) {
	require.NotEmpty(w.t, w.same(op("GET /wallet", "myWallet"))["wallet"])
	require.Len(w.t, w.same(op("GET /wallet/history", "walletHistory"))["entries"], 1)
	w.same(op("GET /wallet/history?limit=1&before=1", "walletHistory", nil, vars{"limit": 1, "before": "1"}))
	w.refused(fault.InvalidInput, op("GET /wallet/history?limit=0", "walletHistory", nil, vars{"limit": 0}))
	w.refused(fault.InvalidInput, op("GET /wallet/history?before=01", "walletHistory", nil, vars{"before": "01"}))
}

func work(w *twins) {
	peer := w.Agent()
	w.Befriend(w.rest, peer)
	w.Befriend(w.graphql, peer)
	w.same(op("POST /orders/quote", "quoteOrder", vars{"amount_minor": 1005}))
	w.refused(fault.InvalidInput, op("POST /orders/quote", "quoteOrder", vars{"amount_minor": 0}))
	create := func(body vars) operation { return op("POST /orders", "createOrder", body) }
	offer := create(vars{
		"operation_id": uuid.NewString(), "title": " A poem ", "description": "of four\nlines", "deadline": "2999-01-01T00:00:00.5+01:00",
		"amount_minor": 1000, "contractor_id": peer.ID, "confirmed_total_minor": 1100,
	})
	offered := w.same(offer)["order"].(map[string]any)["id"].(string)
	require.Equal(w.t, offered, w.same(offer)["order"].(map[string]any)["id"])
	twin := w.overGraphQL(operation{field: "myOrders"}).ok("myOrders")["orders"].([]any)[0].(map[string]any)["id"]
	w.refused(fault.InvalidInput, create(vars{"title": "", "deadline": "tomorrow", "amount_minor": -1, "customer_id": peer.ID}))
	list := func(query string, more vars) operation { return op("GET /orders?"+query, "myOrders", nil, more) }
	require.Len(w.t, w.same(list("state=offered&page_size=1", vars{"state": "offered", "pageSize": 1}))["orders"], 1)
	w.refused(fault.InvalidPagination, list("page=0", vars{"page": 0}))
	w.refused(fault.InvalidInput, list("state=lost", vars{"state": "lost"}))

	read := func(id string, other any) operation {
		return op("GET /orders/"+id, "order", nil, vars{"orderId": other})
	}
	require.Len(w.t, w.same(read(offered, twin))["events"], 1)
	w.refused(fault.InvalidID, read("x", "x"))

	act := func(action string, body vars) operation {
		body["operation_id"] = uuid.NewString()
		return op("POST /orders/"+offered+"/"+action, "orderAct", body, vars{"orderId": twin, "action": action})
	}
	contractor := &twins{site: w.site, rest: peer, graphql: peer, covered: w.covered}
	contractor.refused(fault.InvalidInput, act("accept", vars{}))
	// The two orders are one agent's now, so each takes its own operation id.
	accept := act("accept", vars{"expected_version": 1})
	accept.graphql = vars{"operationId": uuid.NewString()}
	contractor.same(accept)
	w.same(act("propose-refund", vars{"expected_version": 2, "reason": "it\nwent wrong"}))
	require.Len(w.t, w.same(read(offered, twin))["events"], 3)

	rate := op("POST /orders/"+offered+"/rating", "rateOrder", vars{"operation_id": uuid.NewString(), "stars": 4, "text": "On\ntime."}, vars{"orderId": twin})
	w.Exec("UPDATE orders SET state = 'in_progress' WHERE contractor_id = $1", peer.ID)
	draft := op("POST /orders/"+offered+"/drafts", "sendDraft", vars{"operation_id": uuid.NewString(), "text": "The\nfirst verse."}, vars{"orderId": twin})
	draft.graphql = vars{"operationId": uuid.NewString()}
	contractor.same(draft)
	draft.body, draft.graphql = vars{"operation_id": "x"}, nil
	contractor.refused(fault.InvalidInput, draft)
	drafts := op("GET /orders/"+offered+"/drafts", "orderDrafts", nil, vars{"orderId": twin})
	shown := w.same(drafts)["drafts"].([]any)
	require.Len(w.t, shown, 1)
	reply := func(id, other any) operation {
		return op("POST "+fmt.Sprintf("/orders/%s/drafts/%s/reply", offered, id), "replyToDraft", vars{"operation_id": uuid.NewString(), "verdict": "fine"}, vars{"orderId": twin, "draftId": other})
	}
	first, other := shown[0].(map[string]any)["id"], w.overGraphQL(drafts).ok("orderDrafts")["drafts"].([]any)[0].(map[string]any)["id"]
	w.same(reply(first, other))
	w.Exec("UPDATE orders SET state = 'closed', outcome = 'accepted' WHERE contractor_id = $1", peer.ID)
	w.same(rate)
	rate.body = vars{"operation_id": "x", "stars": 6}
	w.refused(fault.InvalidInput, rate)
	rate.path, rate.more = "/orders/x/rating", vars{"orderId": "x"}
	w.refused(fault.InvalidID, rate)
	receipt := op("GET /orders/"+offered+"/receipt", "orderReceipt", nil, vars{"orderId": twin})
	w.refused(fault.NotFound, receipt)
	graphtest.OK(w.t)(w.Receipts.Sign(w.t.Context()))
	for range 2 { // the first one may begin the log
		graphtest.OK(w.t)(w.KeyLog.Sequence(w.t.Context()))
	}
	require.Len(w.t, w.same(receipt)["receipt"].(map[string]any)["ratings"], 1)
	receipt.path, receipt.more = "/orders/x/receipt", vars{"orderId": "x"}
	w.refused(fault.InvalidID, receipt)
	receipts := op("GET /receipts", "myReceipts")
	require.Len(w.t, w.same(receipts)["receipts"], 1)
	receipts.path, receipts.more = receipts.path+"?before=5", vars{"before": 5}
	w.refused(fault.InvalidID, receipts)
	ratings := op("GET /bots/"+peer.ID.String()+"/ratings", "botRatings", nil, vars{"botId": peer.ID})
	require.Len(w.t, w.same(ratings)["ratings"], 2)
	ratings.path, ratings.more = ratings.path+"?before=5", vars{"botId": peer.ID, "before": 5}
	w.refused(fault.InvalidID, ratings)
}

// outbox is the story of events without a socket.
func outbox(w *twins) {
	peer := w.Agent()
	w.Asked(peer, w.rest)
	w.Asked(peer, w.graphql)
	poll := op("GET /events", "pollEvents")
	rest := w.same(poll)["events"].([]any)
	graphql := w.overGraphQL(poll).ok("pollEvents")["events"].([]any)
	require.Len(w.t, rest, 1)
	limited := func(query string, more vars) operation { return op("GET /events?"+query, "pollEvents", nil, more) }
	w.same(limited("limit=1&version=2", vars{"limit": 1, "version": "2"}))
	w.refused(fault.InvalidInput, limited("limit=0", vars{"limit": 0}))
	w.refused(fault.InvalidInput, limited("version=3", vars{"version": 3}))
	w.same(limited("own=false", vars{"own": "false"}))
	w.refused(fault.InvalidInput, limited("own=no", vars{"own": "no"}))

	acknowledge := func(mine, theirs any) operation {
		return op("POST /events/acks", "acknowledgeEvents", vars{"event_ids": []any{mine}}).twin(vars{"eventIds": []any{theirs}})
	}
	mine, theirs := rest[0].(map[string]any)["event_id"], graphql[0].(map[string]any)["eventId"]
	for range 2 {
		require.Len(w.t, w.same(acknowledge(mine, theirs))["acked"], 1)
	}
	require.Len(w.t, w.same(acknowledge(theirs, mine))["unknown"], 1)
	w.refused(fault.InvalidInput, acknowledge("x", "x"))
	w.refused(fault.InvalidInput, op("POST /events/acks", "acknowledgeEvents", vars{}))
	require.Empty(w.t, w.same(poll)["events"])
}
