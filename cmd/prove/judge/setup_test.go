package judge_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

// story writes a small history that keeps every promise: one request after another, each a tenth of a second long.
type story struct {
	history.History
	now time.Duration
}

func id(name string) string { return "id-of-" + name }

func raw(value any) json.RawMessage {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return text
}

type object = map[string]any

// ask adds an answered attempt and returns it for changes. The pointer is valid until the next one.
func (s *story) ask(agent, operation, key, subject string, status int, body any) *history.Attempt {
	s.now += 100 * time.Millisecond
	a := history.Attempt{
		Agent: agent, Operation: operation, ID: key, Subject: subject, Process: "server 1",
		Start: s.now, End: s.now + 90*time.Millisecond, Status: status,
	}
	if body != nil {
		a.Body = raw(body)
	}
	s.Attempts = append(s.Attempts, a)
	return &s.Attempts[len(s.Attempts)-1]
}

// lose adds an unanswered attempt before the last one.
func (s *story) lose() {
	last := s.Attempts[len(s.Attempts)-1]
	lost := last
	lost.Status, lost.Body, lost.Failure, lost.Process = history.Unanswered, nil, "connection reset", ""
	lost.Start, lost.End = last.Start-80*time.Millisecond, last.Start-20*time.Millisecond
	s.Attempts[len(s.Attempts)-1] = lost
	s.Attempts = append(s.Attempts, last)
}

// copied adds another attempt at a request, with the same answer.
func (s *story) copied(key string) *history.Attempt {
	s.Attempts = append(s.Attempts, *s.find(key, 0))
	return &s.Attempts[len(s.Attempts)-1]
}

// again repeats an answered request, which gets the stored answer.
func (s *story) again(key string) *history.Attempt {
	first := *s.find(key, 0)
	a := s.ask(first.Agent, first.Operation, key, first.Subject, 200, nil)
	a.Sent, a.Body, a.Version, a.Replayed = first.Sent, first.Body, first.Version, true
	return a
}

// change sends other content under the id of an answered request, which is refused.
func (s *story) change(key, member string) *history.Attempt {
	first := *s.find(key, 0)
	a := s.ask(first.Agent, first.Operation, key, first.Subject, 409, nil)
	a.Version, a.Changed, a.Code = first.Version, member, "idempotency_conflict"
	return a
}

func (s *story) event(agent string, connection int, event, kind string, payload object) {
	s.Deliveries = append(s.Deliveries, history.Delivery{
		Agent: agent, Connection: connection, ConnectedAt: time.Duration(connection) * time.Millisecond,
		At: s.now + 95*time.Millisecond, Process: "server 1", EventID: event, Kind: kind, Payload: raw(payload),
	})
}

func (s *story) message(sender, recipient, key string) {
	a := s.ask(sender, history.MessageSend, key, recipient, 201, object{"message": object{"id": "m-" + key}})
	a.Sent = raw(object{"nonce": "nonce " + key, "ciphertext": "sealed " + key})
	for _, list := range []string{sender + "/" + recipient, recipient + "/" + sender} {
		s.Final.Messages[list] = append(s.Final.Messages[list], history.Message{
			ID: "m-" + key, ClientMessageID: key, SenderID: id(sender), Ciphertext: "sealed " + key,
			Text: history.MessageText(sender, recipient, key),
		})
	}
	s.event(recipient, connectionOf[recipient], "e-"+key, "message.created", object{
		"message_id": "m-" + key, "client_message_id": key, "sender_id": id(sender),
	})
}

var connectionOf = map[string]int{"ann": 1, "bob": 2}

// step is an agent's operation on an order, with the order's next state.
type step struct{ agent, operation, state, outcome string }

// order writes an order of ann's from bob: its steps, their events, and a read after each.
func (s *story) order(name string, steps ...step) {
	card := object{
		"id": name, "customer_id": id("ann"), "contractor_id": id("bob"), "author_id": id("ann"),
		"amount_minor": 100, "total_minor": 110, "outcome": nil,
	}
	var events []object
	for i, st := range steps {
		card["state"], card["version"] = st.state, i+1
		if st.outcome != "" {
			card["outcome"] = st.outcome
		}
		status := 200
		if i == 0 {
			status = 201
		}
		key := fmt.Sprintf("%s-%d", name, i+1)
		s.ask(st.agent, st.operation, key, name, status, object{"order": card}).Version = int64(i)
		events = append(events, object{
			"action": strings.TrimPrefix(st.operation, "order."), "participant_id": id(st.agent), "state": st.state, "version": i + 1,
		})
		for _, agent := range []string{"ann", "bob"} {
			s.event(agent, connectionOf[agent], fmt.Sprintf("e-%s-%s", key, agent), "order.changed", object{
				"order_id": name, "status": st.state, "version": i + 1,
			})
		}
		s.enter(name, key, st.operation)
		s.Final.Orders[name] = raw(object{"order": card, "events": events})
		s.ask("bob", history.OrderGet, "", name, 200, object{"order": card, "events": events})
	}
}

// enter writes the entries of an operation, and the readings of both wallets after it.
func (s *story) enter(order, key, operation string) {
	type entry struct {
		agent, kind, account string
		delta                int64
	}
	for _, e := range map[string][]entry{
		history.OrderAccept:        {{"ann", "reserve", "available", -110}, {"ann", "reserve", "reserved", 110}},
		history.OrderComplete:      {{"ann", "payment", "reserved", -110}, {"bob", "payment", "available", 100}},
		history.OrderApproveRefund: {{"ann", "refund", "reserved", -110}, {"ann", "refund", "available", 110}},
	}[operation] {
		s.credit(e.agent, history.Entry{
			TransactionID: "t-" + key, OperationID: key, Kind: e.kind, AccountKind: e.account, OrderID: order, DeltaMinor: e.delta,
		})
	}
	s.ask("ann", history.WalletGet, "", "", 200, object{"wallet": s.Final.Wallets["ann"]})
	newest := slices.Clone(s.Final.Entries["bob"])
	slices.Reverse(newest)
	s.ask("bob", history.WalletHistory, "", "/wallet/history", 200, object{"entries": newest, "next_before": nil})
}

func (s *story) credit(agent string, e history.Entry) {
	e.ID = int64(len(s.Final.Entries[agent]) + 1)
	s.Final.Entries[agent] = append(s.Final.Entries[agent], e)
	w := s.Final.Wallets[agent]
	w.TotalMinor += e.DeltaMinor
	if e.AccountKind == "reserved" {
		w.ReservedMinor += e.DeltaMinor
	} else {
		w.AvailableMinor += e.DeltaMinor
	}
	s.Final.Wallets[agent] = w
}

// link has an agent linked to an owner: with a wrong code, the right one too early, and the right one. It is rewarded for that.
func (s *story) link(agent, address string) {
	challenge := "challenge-" + agent
	s.ask(agent, history.OwnerRequest, "", address, 202, object{"challenge_id": challenge})
	s.Mails = append(s.Mails, history.Mail{
		At: s.now + 95*time.Millisecond, To: address, MessageID: "mail-" + agent, Challenge: challenge, Answered: true,
	})
	s.ask(agent, history.OwnerOpen, "", challenge, 200, nil)
	s.ask(agent, history.OwnerGuess, "", challenge, 400, nil).Code = "invalid_input"
	s.ask(agent, history.OwnerVerify, challenge, address, 409, nil).Code = "state_conflict"
	s.ask(agent, history.OwnerConfirm, "", challenge, 200, nil)
	_, domain, _ := strings.Cut(address, "@")
	s.ask(agent, history.ProfileUpdate, "", agent, 200, object{"bot": object{}}).Sent = raw(object{"specialty": "poems"})
	card := object{"email_verification": object{"status": "verified", "email_hint": address[:1] + "***@" + domain, "verified_at": agent}}
	s.ask(agent, history.OwnerVerify, challenge, address, 200, card)
	s.credit(agent, history.Entry{TransactionID: "reward of " + agent, Kind: "reward", AccountKind: "available", DeltaMinor: 200_000})
	card["rewards"] = object{"grounds": []object{
		{"ground": "registration", "status": "granted", "granted_amount_minor": 500_000},
		{"ground": "avatar", "status": "available", "missing": []string{"avatar"}},
		{"ground": "profile_complete", "status": "granted", "granted_amount_minor": 200_000},
	}}
	s.Final.Onboarding[agent] = raw(card)
}

// right is a history that keeps every promise.
func right() *story {
	s := &story{History: history.History{
		Final: history.Final{
			Orders: make(map[string]json.RawMessage), Entries: make(map[string][]history.Entry),
			Wallets: make(map[string]history.Wallet), Messages: make(map[string][]history.Message),
			Files:      map[string]string{"f1": "hash"},
			Onboarding: map[string]json.RawMessage{"bob": raw(object{"email_verification": object{"status": "unverified"}})},
			Before:     map[string]float64{"goroutines": 100, "socket_slots": 2},
			After:      map[string]float64{"goroutines": 110, "socket_slots": 2},
		},
	}}
	s.now = -400 * time.Millisecond // before everything else
	for _, agent := range []string{"ann", "bob", "dan", "cat"} {
		s.ask(agent, history.Register, "", agent, 201, object{"bot": object{"id": id(agent)}})
		s.credit(agent, history.Entry{TransactionID: "grant of " + agent, Kind: "grant", AccountKind: "available", DeltaMinor: 500_000})
	}
	s.ask("ann", history.ContactRequest, "", "bob", 201,
		object{"contact": object{"id": "c1", "state": "pending", "requested_by_me": true, "bot": object{"id": id("bob")}}})
	s.event("bob", 2, "e-requested", "contact.requested", object{"bot_id": id("ann")})
	s.ask("bob", history.ContactAccept, "", "ann", 200,
		object{"contact": object{"id": "c1", "state": "accepted", "requested_by_me": false, "bot": object{"id": id("ann")}}})
	s.event("ann", 1, "e-accepted", "contact.accepted", object{"bot_id": id("bob")})
	s.message("ann", "bob", "hello")
	s.message("bob", "ann", "answer")
	s.message("ann", "bob", "again")
	s.lose()
	s.order("paid",
		step{"ann", history.OrderCreate, "offered", ""}, step{"bob", history.OrderAccept, "funded", ""},
		step{"bob", history.OrderStart, "in_progress", ""}, step{"bob", history.OrderDeliver, "delivered", ""},
		step{"ann", history.OrderComplete, "closed", "accepted"})
	s.order("refunded",
		step{"ann", history.OrderCreate, "offered", ""}, step{"bob", history.OrderAccept, "funded", ""},
		step{"bob", history.OrderProposeRefund, "disputed", ""}, step{"ann", history.OrderApproveRefund, "closed", "refunded"})
	s.ask("ann", history.PostCreate, "first", "", 201, object{"post": object{"id": "p1"}})
	s.ask("ann", history.FileUpload, "upload", "hash", 201, object{"attachment": object{"id": "f1", "sha256": "hash"}})
	s.ask("ann", "tasks.list", "", "/tasks", 503, nil).RetryAfter = true
	killed := s.now
	s.ask("ann", "tasks.list", "", "/tasks", 200, nil)
	graceful := s.now
	for i := range 4 {
		a := s.ask("bob", "burst.socket", "", "", 200, nil)
		if i >= 2 {
			a.Status, a.Code, a.RetryAfter = 429, "4429", true
		}
	}
	// Also while a server was dead: the lost send of the message "again".
	s.Faults = []history.Fault{
		{Name: "kill", Target: "server 2", Start: 200 * time.Millisecond, Lifted: 250 * time.Millisecond, End: 600 * time.Millisecond},
		{Name: "kill", Target: "server 1", Start: killed, Lifted: killed, End: killed + 50*time.Millisecond},
		{Name: "restart", Target: "server 1", Start: graceful, Lifted: graceful, End: graceful + 90*time.Millisecond, Graceful: true},
	}
	s.Bursts = []history.Burst{{
		Limit: "changes a minute", Allowed: 2, Operation: "burst.socket", Agent: "bob", Start: graceful, End: s.now + time.Second,
		Code: "4429",
	}}
	s.now += 5 * time.Second
	s.message("ann", "cat", "later")
	s.socket("cat", "later")
	s.Acks = []history.Ack{{Agent: "bob", Connection: 2, EventID: "e-hello", Answered: s.now}}
	s.link("dan", "owner@dan.example")
	s.live()
	s.trust()
	s.doors()
	s.slowly("slow-file", 201)
	s.again("answer")
	s.change("answer", "ciphertext")
	s.Length = s.now + 10*time.Second
	return s
}

// socket is one that was open from before a message until long after it.
func (s *story) socket(agent, key string) {
	sent := *s.find(key, 0)
	a := s.ask(agent, history.EventSocket, "", "", 200, nil)
	a.Of, a.Start, a.End = "0", sent.Start-time.Millisecond, sent.End+11*time.Second
}

// find returns the attempt of a request, counted among those with its id.
func (s *story) find(key string, number int) *history.Attempt {
	for i := range s.Attempts {
		if s.Attempts[i].ID == key {
			if number == 0 {
				return &s.Attempts[i]
			}
			number--
		}
	}
	panic("no attempt " + key)
}

// first and last return an attempt at an operation.
func (s *story) first(operation string) *history.Attempt { return s.attempts(operation)[0] }

func (s *story) last(operation string) *history.Attempt {
	all := s.attempts(operation)
	return all[len(all)-1]
}

func (s *story) attempts(operation string) (all []*history.Attempt) {
	for i := range s.Attempts {
		if s.Attempts[i].Operation == operation {
			all = append(all, &s.Attempts[i])
		}
	}
	return all
}

// editOwner changes a text in dan's final state.
func (s *story) editOwner(from, to string) {
	body := s.Final.Onboarding["dan"]
	edit(&body, from, to)
	s.Final.Onboarding["dan"] = body
}

func (s *story) delivery(event string) *history.Delivery {
	return &s.Deliveries[slices.IndexFunc(s.Deliveries, func(d history.Delivery) bool { return d.EventID == event })]
}

// came has an event come again, on a connection.
func (s *story) came(event string, connection int) *history.Delivery {
	d := *s.delivery(event)
	d.Connection = connection
	s.Deliveries = append(s.Deliveries, d)
	return &s.Deliveries[len(s.Deliveries)-1]
}

// miss has an event come on a connection that begins only now.
func (s *story) miss(event string) {
	d := s.delivery(event)
	d.Connection, d.ConnectedAt = 9, s.now
}

func (s *story) drop(which func(d history.Delivery) bool) {
	s.Deliveries = slices.DeleteFunc(s.Deliveries, which)
}

// edit changes a text in raw JSON, which must be there.
func edit(body *json.RawMessage, from, to string) {
	changed := strings.ReplaceAll(string(*body), from, to)
	if changed == string(*body) {
		panic(from + " is not in " + changed)
	}
	*body = json.RawMessage(changed)
}

func finding(t *testing.T, all []judge.Finding, name string) judge.Finding {
	t.Helper()
	for _, f := range all {
		if f.Name == name {
			return f
		}
	}
	require.Fail(t, "no check "+name)
	return judge.Finding{}
}
