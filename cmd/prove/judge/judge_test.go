package judge_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

func TestARightHistory(t *testing.T) {
	t.Parallel()
	s := right()
	before := fmt.Sprintf("%+v", s.History)
	all := judge.Judge(&s.History)
	require.Equal(t, before, fmt.Sprintf("%+v", s.History), "the history is only read")
	for _, f := range all {
		require.Empty(t, f.Violations, f.Name)
		require.Positive(t, f.Looked, f.Name)
		require.Regexp(t, `^[A-Z].*\(§[0-9.]+\)\.$`, f.Promise)
	}
	require.Zero(t, judge.Violations(all))
}

// defect is a broken promise, with the check that finds it and a part of its message.
type defect struct {
	name, check, says string
	plant             func(s *story)
}

var defects = []defect{
	{"internal error", "no internal error", "500", func(s *story) { s.last("tasks.list").Status = 500 }},
	{"a status that is none of ours", "no internal error", "501", func(s *story) { s.last("tasks.list").Status = 501 }},
	{"unavailable without a fault", "service between faults", "503", func(s *story) { s.Faults = s.Faults[:1] }},
	{"no answer after a fault", "service between faults", "connection reset", func(s *story) {
		s.Faults[0].End = 300 * time.Millisecond
	}},
	{"no answer long after a fault", "service between faults", "connection reset", func(s *story) {
		s.Faults = s.Faults[:1]
		s.find("again", 0).End = s.Faults[0].End + 6*time.Second
	}},
	{"an upload that is not resumed", "service between faults", "connection reset", func(s *story) {
		s.find("upload", 0).End += 2 * time.Minute
		s.loseUpload()
	}},
	{"a request waits while the machine is idle", "service between faults", "profile.update", func(s *story) {
		s.now = s.Faults[2].End + 12*time.Second
		s.card("poet")
		a := s.ask("dan", "profile.update", "", "", 503, nil)
		a.RetryAfter, a.End = true, a.Start+4*time.Second
		s.card("poet")
	}},
	{"no server while the machine is idle", "service between faults", "no answer, the load balancer: 503", func(s *story) {
		s.now = s.Faults[2].End + 12*time.Second
		s.card("poet")
		a := s.ask("dan", "profile.update", "", "", history.Unanswered, nil)
		a.Process, a.Failure = "", history.NoServer+"503"
		s.card("poet")
	}},
	{"a poll that fails long after a fault", "service between faults", "event.poll", func(s *story) {
		s.now = s.Faults[2].End + 12*time.Second
		s.ask("dan", history.EventPoll, "", "", 503, nil).RetryAfter = true
	}},
	{"gateway timeout without a fault", "service between faults", "504", func(s *story) {
		s.Faults, s.last("tasks.list").Status = nil, 504
	}},
	{"service never returns", "service between faults", "never returned", func(s *story) { s.Faults[1].End = 0 }},
	{"a graceful restart refuses", "graceful changes", "503", func(s *story) {
		s.last("tasks.list").Status = 503
	}},
	{"unavailable without Retry-After", "retry after", "tasks.list", func(s *story) { s.first("tasks.list").RetryAfter = false }},
	{"limited without Retry-After", "retry after", "burst.socket", func(s *story) { s.last("burst.socket").RetryAfter = false }},

	{"an event that misses an open socket", "open sockets", "never came on connection 0 of cat", func(s *story) {
		i := slices.IndexFunc(s.Deliveries, func(d history.Delivery) bool { return d.EventID == "e-later" })
		s.Deliveries[i].Connection, s.Deliveries[i].ConnectedAt = 9, s.now
	}},

	{"an unsound file is taken", "files", "no sound file", func(s *story) {
		s.ask("ann", history.FileUnsound, "", "hash", 201, nil)
	}},
	{"a token outlives its agent", "erasures", "still good", func(s *story) { s.ask("dan", history.ErasureDue, "", "dan", 200, nil) }},

	{"never settled", "settled", "message.send again of ann was never settled in 2 attempts", func(s *story) {
		s.find("again", 1).Status = 503
	}},
	{"a message that nobody recorded", "messages", "no record of what was sent", func(s *story) { s.Sent = s.Sent[1:] }},
	{"lost message", "messages", "0 times in the list of ann/bob", func(s *story) {
		s.Final.Messages["ann/bob"] = s.Final.Messages["ann/bob"][1:]
	}},
	{"message stored twice", "messages", "twice", func(s *story) {
		for _, list := range []string{"ann/bob", "bob/ann"} {
			m := s.Final.Messages[list][0]
			m.ID = "m-copy"
			s.Final.Messages[list] = append(s.Final.Messages[list], m)
		}
	}},
	{"another ciphertext", "messages", "another ciphertext", func(s *story) { s.Final.Messages["bob/ann"][0].Ciphertext = "x" }},
	{"opens to something else", "messages", "opens to", func(s *story) { s.Final.Messages["bob/ann"][0].Text = "" }},
	{"message of nobody", "messages", "never sent", func(s *story) { s.Final.Messages["bob/ann"][0].ClientMessageID = "x" }},
	{"messages out of order", "messages", "which was sent later", func(s *story) {
		slices.Reverse(s.Final.Messages["ann/bob"])
		slices.Reverse(s.Final.Messages["bob/ann"])
	}},
	{"sides disagree on the order", "messages", "different messages, or in different order", func(s *story) {
		list := s.Final.Messages["ann/bob"]
		list[0], list[1] = list[1], list[0]
	}},

	{"lost post", "posts", "not listed", func(s *story) { s.Final.Posts["ann"] = nil }},
	{"post made twice", "posts", "listed 2 times", func(s *story) { s.Final.Posts["ann"]["p9"] = "first" }},
	{"post of nobody", "posts", "0 were answered", func(s *story) { s.Final.Posts["bob"] = map[string]string{"p3": "x"} }},
	{"lost file", "files", "is gone", func(s *story) { s.Final.Files = nil }},
	{"changed file", "files", "which has now", func(s *story) { s.Final.Files["f1"] = "other" }},
	{"a file that was not sent", "files", "which has now", func(s *story) { s.find("upload", 0).Subject = "other" }},

	{"an order's step is applied twice", "order events", "nobody asked for version 6", func(s *story) {
		s.editPaid(`"version":5}],`,
			`"version":5},{"action":"complete","participant_id":"id-of-ann","state":"closed","version":6}],`)
		s.editPaid(`"version":5}}`, `"version":6}}`)
	}},
	{"a stale read", "orders", "explains order.get", func(s *story) {
		body := s.first(history.OrderGet).Body
		edit(&body, `"id":"paid"`, `"id":"refunded"`)
		s.last(history.OrderGet).Body = body
	}},
	{"a read from the future", "orders", "explains order.get", func(s *story) {
		s.first(history.OrderGet).Body = s.Final.Orders["paid"]
	}},
	{"the wrong state", "orders", "explains order.start", func(s *story) {
		edit(&s.find("paid-3", 0).Body, "in_progress", "funded")
	}},
	{"the wrong outcome", "orders", "order paid", func(s *story) {
		edit(&s.find("paid-5", 0).Body, `"accepted"`, `"refunded"`)
	}},
	{"an order that is lost", "orders", "cannot be read", func(s *story) { delete(s.Final.Orders, "paid") }},
	{"a version that never became visible", "order events", "never became visible", func(s *story) {
		edit(&s.find("paid-5", 0).Body, `"version":5`, `"version":6`)
	}},
	{"one version for two requests", "order events", "answers both", func(s *story) {
		a := *s.find("paid-5", 0)
		a.ID = "other"
		s.Attempts = append(s.Attempts, a)
	}},
	{"a stranger reads an order", "orders", "explains order.get by cat", func(s *story) { s.last(history.OrderGet).Agent = "cat" }},
	{"an operation without a recorded answer", "orders", "no readable answer", func(s *story) { s.find("paid-3", 0).Body = nil }},
	{"no answer at the end", "order events", "the final answer is none", func(s *story) { s.Final.Orders["paid"] = raw("none") }},
	{"a version without an event", "order events", "has version 6, but 5 events", func(s *story) {
		s.editPaid(`"version":5}}`, `"version":6}}`)
	}},
	{"a gap in the versions", "order events", "event 3 has version 7", func(s *story) {
		s.editPaid(`"state":"in_progress","version":3`, `"state":"in_progress","version":7`)
	}},
	{"an event by somebody else", "order events", "order.start by ann, but was answered to order.start paid-3 of bob", func(s *story) {
		s.editPaid(`"action":"start","participant_id":"id-of-bob"`, `"action":"start","participant_id":"id-of-ann"`)
	}},
	{"an order of nobody", "order events", "nobody asked for version 1", func(s *story) {
		s.Final.Orders["other"] = raw(object{
			"order":  object{"id": "other", "version": 1, "author_id": id("ann"), "customer_id": id("ann"), "contractor_id": id("bob")},
			"events": []object{{"action": "create", "participant_id": id("ann"), "state": "offered", "version": 1}},
		})
	}},
	{"double refund", "postings", "refund of order refunded: +110 available of ann is there 1 times too often", func(s *story) {
		for _, e := range s.Final.Entries["ann"][7:] {
			s.credit("ann", e)
		}
	}},
	{"unpaid contractor", "postings", "+100 available of bob is missing", func(s *story) {
		s.Final.Entries["bob"] = s.Final.Entries["bob"][:1]
	}},
	{"a gap in the numbers", "wallets", "has number 9", func(s *story) { s.Final.Entries["ann"][3].ID = 9 }},
	{"a wallet that is lost", "wallets", "wallet of bob cannot be read at the end", func(s *story) {
		delete(s.Final.Entries, "bob")
	}},
	{"below zero", "wallets", "below zero", func(s *story) { s.Final.Entries["ann"][1].DeltaMinor = -1_000_000 }},
	{"no grant", "wallets", "does not begin with the grant", func(s *story) { s.Final.Entries["bob"][0].Kind = "top_up" }},
	{"split transaction", "wallets", "not together", func(s *story) {
		e := s.Final.Entries["ann"]
		e[2].TransactionID, e[3].TransactionID = e[3].TransactionID, e[2].TransactionID
	}},
	{"half a transaction is visible", "wallets", "wallet of ann: no sequence of its changes explains wallet.get", func(s *story) {
		half := object{"available_minor": 499_780, "reserved_minor": 110, "total_minor": 499_890}
		s.last(history.WalletGet).Body = raw(object{"wallet": half})
	}},
	{"a stale wallet", "wallets", "wallet of bob: no sequence of its changes explains wallet.history", func(s *story) {
		s.last(history.WalletHistory).Body = raw(object{"entries": s.Final.Entries["bob"][:1], "next_before": nil})
	}},
	{"a reading of an entry that is gone", "wallets", "another in the end", func(s *story) {
		edit(&s.last(history.WalletHistory).Body, `"delta_minor":100`, `"delta_minor":90`)
	}},
	{"an empty page", "wallets", "lists no entries", func(s *story) {
		s.last(history.WalletHistory).Body = raw(object{"entries": []history.Entry{}, "next_before": nil})
	}},
	{"a page that leaves entries out", "wallets", "ends with entry 2", func(s *story) {
		s.last(history.WalletHistory).Body = raw(object{"entries": s.Final.Entries["bob"][1:], "next_before": nil})
	}},
	{"an entry that nobody caused", "wallets", "nobody asked for entry", func(s *story) {
		s.Final.Entries["bob"][1].OperationID = "x"
	}},
	{"visible before it was asked for", "wallets", "wallet of ann", func(s *story) {
		later := object{"available_minor": 499_890, "reserved_minor": 110, "total_minor": 500_000}
		s.first(history.WalletGet).Body = raw(object{"wallet": later})
	}},
	{"the final balances are not the sum", "wallets", "the final balances", func(s *story) {
		w := s.Final.Wallets["bob"]
		w.AvailableMinor++
		s.Final.Wallets["bob"] = w
	}},

	{"lost event of a message", "events received", "bob never received message.created m-again", func(s *story) {
		s.drop(func(d history.Delivery) bool { return d.EventID == "e-again" })
	}},
	{"lost event of a version", "events received", "ann never received order.changed paid version 1", func(s *story) {
		s.drop(func(d history.Delivery) bool { return d.EventID == "e-paid-1-ann" })
	}},
	{"lost event of a contact", "events received", "never received contact.requested", func(s *story) {
		s.drop(func(d history.Delivery) bool { return d.Kind == "contact.requested" })
	}},
	{"lost event of an acceptance", "events received", "ann never received contact.accepted", func(s *story) {
		s.drop(func(d history.Delivery) bool { return d.Kind == "contact.accepted" })
	}},
	{"an event twice on a connection", "event order", "received event e-hello twice", func(s *story) {
		s.Deliveries = append(s.Deliveries, s.delivery("e-hello"))
	}},
	{"a later event first", "event order", "e-hello after e-again, which was caused later", func(s *story) {
		for _, event := range []string{"e-again", "e-hello"} {
			d := s.delivery(event)
			d.Connection = 3
			s.Deliveries = append(s.Deliveries, d)
		}
	}},
	{"a message before an order that came first", "event order", "e-paid-1-bob after e-later", func(s *story) {
		s.message("ann", "bob", "later still")
		for _, event := range []string{"e-later still", "e-paid-1-bob"} {
			d := s.delivery(event)
			d.Connection = 3
			s.Deliveries = append(s.Deliveries, d)
		}
	}},
	{"versions descend", "event order", "version 1 of order paid after version 2", func(s *story) {
		s.swap("e-paid-1-bob", "e-paid-2-bob")
	}},
	{"messages overtake each other", "event order", "received e-hello after e-again, which was caused later", func(s *story) {
		s.swap("e-hello", "e-again")
	}},
	{"again after its ack", "acknowledged events", "e-hello of bob came", func(s *story) {
		d := s.delivery("e-hello")
		d.Connection, d.ConnectedAt = 9, s.Acks[0].Answered+time.Millisecond
		s.Deliveries = append(s.Deliveries, d)
	}},
	{"an event that takes long", "prompt events", "took", func(s *story) {
		i := slices.IndexFunc(s.Deliveries, func(d history.Delivery) bool { return d.EventID == "e-later" })
		s.Deliveries[i].At += 11 * time.Second
	}},
	{"a stranger's order", "event contents", "it is for bob", func(s *story) {
		s.event("cat", 4, "e-x", "order.changed", object{"order_id": "paid", "status": "offered", "version": 1})
	}},
	{"a stranger's message", "event contents", "no message to this agent", func(s *story) {
		d := s.delivery("e-hello")
		s.event("ann", 1, "e-x", "message.created", nil)
		s.Deliveries[len(s.Deliveries)-1].Payload = d.Payload
	}},
	{"a version that is told and never was", "event contents", "nobody has done anything that it may be about", func(s *story) {
		s.event("ann", 1, "e-x", "order.changed", object{"order_id": "paid", "status": "closed", "version": 6})
	}},
	{"a contact with oneself", "event contents", "from no other agent", func(s *story) {
		s.event("ann", 1, "e-x", "contact.requested", object{"bot_id": id("ann")})
	}},
	{"another agent's recommendations", "event contents", "about another agent", func(s *story) {
		s.event("ann", 1, "e-x", "profile.recommendations", object{"bot_id": id("bob")})
	}},
	{"an unknown kind", "event contents", "an unknown kind", func(s *story) { s.event("ann", 1, "e-x", "other", nil) }},
	{"an unreadable payload", "event contents", "unreadable payload", func(s *story) { s.Deliveries[0].Payload = raw("text") }},
	{"another state is told", "event contents", `it says status "funded" instead of "closed"`, func(s *story) {
		s.event("ann", 1, "e-x", "order.changed", object{"order_id": "paid", "status": "funded", "version": 5})
	}},
	{"announced twice", "event contents", "twice, as e-hello and e-x", func(s *story) {
		d := s.delivery("e-hello")
		d.EventID = "e-x"
		s.Deliveries = append(s.Deliveries, d)
	}},
	{"one id for two events", "event contents", "and also", func(s *story) {
		d := s.delivery("e-hello")
		d.EventID = "e-again"
		s.Deliveries = append(s.Deliveries, d)
	}},

	{"a limit counted per process", "limits", "4 of 4 succeeded", func(s *story) {
		for i := range s.Attempts {
			if s.Attempts[i].Operation == "burst.socket" {
				s.Attempts[i].Status = 200
			}
		}
	}},
	{"a limit that refuses too much", "limits", "only 2 of 4 succeeded", func(s *story) { s.Bursts[0].Allowed = 3 }},
	{"a burst that was not recorded", "limits", "has no attempts", func(s *story) { s.Bursts[0].Operation = "none" }},
	{"another refusal", "limits", "429 rate_limited by server 1 instead of 4429", func(s *story) {
		s.last("burst.socket").Code = "rate_limited"
	}},
	{"a ledger that does not balance", "ledger", "sum", func(s *story) { s.Final.Ledger = []string{"the sum is 1"} }},
	{"leaked goroutines", "leaks", "goroutines: 100 before, 200 after, 158 are allowed", func(s *story) { s.Final.After["goroutines"] = 200 }},
	{"leaked slots", "leaks", "socket_slots", func(s *story) { s.Final.After["socket_slots"] = 3 }},
	{"leaked what has no row", "leaks", "other: 0 before, 1 after", func(s *story) { s.Final.After["other"] = 1 }},
	{"not read again", "leaks", "was not read", func(s *story) { delete(s.Final.After, "goroutines") }},
}

// The defects and innocents of all files.
var (
	everyDefect   = slices.Concat(contentionDefects, deliveryDefects, doorDefects, excusedDefects, defects, laterDefects, lossDefects, ownerDefects, productDefects, refusalDefects, repeatDefects, slowDefects, toolDefects, trustDefects)
	everyInnocent = slices.Concat(allowed, contentionAllowed, deliveriesAllowed, doorsAllowed, laterAllowed, ownersAllowed, productAllowed, refusalsAllowed, repeatsAllowed, slowAllowed, toolsAllowed, trustAllowed)
)

func TestDefectsAreFound(t *testing.T) {
	t.Parallel()
	for _, d := range everyDefect {
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			s := right()
			d.plant(s)
			all := judge.Judge(&s.History)
			f := finding(t, all, d.check)
			require.Contains(t, strings.Join(f.Violations, "\n"), d.says, "%+v", all)
			require.Len(t, f.Violations, f.Count)
			require.Positive(t, judge.Violations(all))
		})
	}
}

func TestNoDefects(t *testing.T) {
	t.Parallel()
	for _, a := range everyInnocent {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			s := right()
			a.plant(s)
			require.Empty(t, finding(t, judge.Judge(&s.History), a.check).Violations)
		})
	}
}

func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	s := right()
	for range 100 {
		s.Final.Ledger = append(s.Final.Ledger, "wrong")
	}
	f := finding(t, judge.Judge(&s.History), "ledger")
	require.Equal(t, 100, f.Count)
	require.Len(t, f.Violations, 20)
}
