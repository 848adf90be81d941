package judge_test

import (
	"fmt"
	"time"

	"stoa/cmd/prove/history"
)

var repeatDefects = []defect{
	{"acted twice", "repeats", "answered 201 by 2 attempts", func(s *story) { s.again("hello").Status = 201 }},
	{"acted twice without a 201", "repeats", "order.start paid-3 of bob acted in 2 attempts", func(s *story) {
		s.again("paid-3").Replayed = false
	}},
	{"other content is taken", "changed repeats", "with another text than message.send", func(s *story) {
		a := s.change("hello", "text")
		a.Status, a.Code = 201, ""
	}},
	{"other content gets the stored answer", "changed repeats", "200", func(s *story) {
		a := s.change("hello", "text")
		a.Status, a.Code, a.Replayed = 200, "", true
	}},
	{"other content is refused for another reason", "changed repeats", "instead of idempotency_conflict", func(s *story) {
		s.change("paid-2", "expected_version").Code = "version_conflict"
	}},

	{"an unknown pair", "refusals", "nothing allows this refusal", func(s *story) {
		s.refused("ann", history.PostCreate, "", "", 400, "invalid_text")
	}},

	{"a slow body that is cut off at once in a graceful change", "graceful changes", "no answer", func(s *story) {
		a := s.slowly("cut", history.Unanswered)
		a.End = a.Start + 2*time.Second
		s.faultAt(s.now - 12*time.Second).Graceful = true
		s.sentAgain("cut")
	}},

	{"a log that shrinks", "key log", "the log has shrunk", func(s *story) { s.refute(history.LogAudit) }},
	{"an entry that is missing", "key log", "the log has shrunk", func(s *story) { s.refute(history.LogOwn) }},
	{"an entry of nobody", "key log", "5 entries", func(s *story) { s.Final.LogAgents++ }},
	{"a receipt that is missing", "receipts", "has a receipt: false", func(s *story) { delete(s.Final.Receipts, "bob/paid") }},
	{"a receipt that is not sound", "receipts", "no key", func(s *story) { s.Final.Receipts["bob/paid"] = history.Receipt{Wrong: "no key has signed it"} }},
	{"a receipt with another price", "receipts", "says", func(s *story) {
		got := s.Final.Receipts["bob/paid"]
		got.TotalMinor++
		s.Final.Receipts["bob/paid"] = got
	}},

	{"events wait for a search at another server", "wake-ups", "to sockets of other servers", func(s *story) { s.wakeUps(0, time.Second) }},
	{"an event that becomes visible during a fault misses an open socket", "open sockets", "never came on connection 0 of cat", func(s *story) {
		s.delay()
		s.miss("e-later")
	}},
	{"an event that is late by more than the machine had no time", "open sockets", "never came on connection 0 of cat", func(s *story) {
		s.delay()
		s.Faults[len(s.Faults)-1].Name = history.MachineStarved
		s.first(history.EventSocket).End += time.Second
		s.miss("e-later")
	}},
	{"an erased agent may ask for its erasure", "erasures", "still good", func(s *story) {
		s.ask("dan", history.ErasureDue, "", "dan", 404, nil).Code = "not_found"
	}},
}

var repeatsAllowed = []innocent{
	{"a stored answer", "repeats", func(s *story) { s.again("paid-2") }},
	{"other content before the first was answered", "changed repeats", func(s *story) {
		a := s.change("hello", "text")
		a.Start, a.Code = s.find("hello", 0).Start, "version_conflict"
	}},
	{"other content that a limit refuses", "changed repeats", func(s *story) {
		a := s.change("hello", "text")
		a.Status, a.Code = 429, "write_limited"
	}},

	{"a file that was sent under another name at once", "refusals", func(s *story) {
		s.copied("upload").Changed = "file"
		s.refused("ann", history.FileUpload, "upload", "hash", 409, "idempotency_conflict")
	}},
	{"an upload that is under way", "refusals", func(s *story) {
		a := s.copied("upload")
		a.Start, a.End = s.now, s.now+time.Second
		s.refused("ann", history.FileUpload, "upload", "hash", 409, "upload_unavailable")
	}},

	{"all hear of a selection", "event contents", (*story).heard},
	{"all have heard of a selection", "events received", (*story).heard},
	{"a response whose author has blocked the customer", "events received", func(s *story) {
		s.contact("dan", history.ContactBlock, "ann", 201, "blocked", true)
		s.chosen()
	}},
	{"a response that may have been withdrawn", "events received", func(s *story) {
		s.chosen()
		s.ask("dan", history.ResponseWithdraw, "", "r4", history.Unanswered, nil).Of = "t3"
	}},

	{"a slow file that a restart cut off", "graceful changes", (*story).cutOff},

	{"a registration without an answer", "key log", func(s *story) {
		s.ask("eve", history.Register, "", "eve", history.Unanswered, nil)
		s.first(history.Register).Status = history.Unanswered
	}},
	{"a rating whose answer was lost", "receipts", func(s *story) { s.first(history.OrderRate).Status = history.Unanswered }},

	{"a machine on which all events take long", "wake-ups", func(s *story) { s.wakeUps(time.Second, 2*time.Second) }},
	{"an event that becomes visible during a fault and comes on a socket that is open", "open sockets", (*story).delay},
}

// refused adds a refused attempt.
func (s *story) refused(agent, operation, key, subject string, status int, code string) {
	a := s.ask(agent, operation, key, subject, status, nil)
	a.Code, a.RetryAfter, a.Changes = code, status == 429, true
}

// told makes an agent receive an event of version 2, under the next id.
func (s *story) told(agent, kind string, payload object) {
	s.event(agent, 20, fmt.Sprintf("e-later-%d", len(s.Deliveries)), kind, payload)
	s.Deliveries[len(s.Deliveries)-1].Asked = 2
}

// respond has an agent respond to a task of ann's.
func (s *story) respond(agent, task, response string) {
	s.ask(agent, history.TaskRespond, task+" by "+agent, task, 201, object{"response": object{"id": response}})
	s.told("ann", "task.responded", object{"task_id": task, "response_id": response, "bot_id": id(agent)})
}

// chosen has ann choose bob's response to the task t3, and bob hear of it.
func (s *story) chosen() {
	s.ask("ann", history.TaskCreate, "", "ann", 201, object{"task": object{"id": "t3"}})
	s.respond("bob", "t3", "r3")
	s.respond("dan", "t3", "r4")
	a := s.ask("ann", history.TaskSelect, "choose", "", 201, object{"order": object{"id": "o3"}})
	a.Of, a.Sent = "t3", raw(object{"response_id": "r3"})
	s.told("bob", "task.selected", object{"task_id": "t3", "response_id": "r3", "order_id": "o3"})
}

// heard has dan hear that it was not chosen.
func (s *story) heard() {
	s.chosen()
	s.told("dan", "task.declined", object{"task_id": "t3", "response_id": "r4"})
}

// slowly has dan send a file for twelve seconds.
func (s *story) slowly(key string, status int) *history.Attempt {
	body := any(nil)
	if status == 201 {
		body = object{"attachment": object{"id": "f-" + key, "sha256": "slow"}}
		s.Final.Files["f-"+key] = "slow"
	}
	a := s.ask("dan", history.FileUpload, key, "slow", status, body)
	a.Slow, a.End = true, a.Start+12*time.Second
	s.now = a.End
	s.Length = s.now + time.Minute
	return a
}

// sentAgain has dan send a file again, at once.
func (s *story) sentAgain(key string) {
	s.slowly(key, 201)
	a := s.last(history.FileUpload)
	a.Slow, a.End = false, a.Start+time.Second
}

// cutOff has a restart refuse dan's slow file, and dan send it again.
func (s *story) cutOff() {
	s.slowly("slow", 503).RetryAfter = true
	s.faultAt(s.now - 5*time.Second).Graceful = true
	s.sentAgain("slow")
}

// trust fills in the audits of the log, the receipts, and two erasures.
func (s *story) trust() {
	for _, handle := range []string{"ann", "bob"} {
		s.ask("", history.LogAudit, "", "", 200, nil)
		s.ask(handle, history.LogOwn, "", "", 200, nil)
	}
	s.Final.LogAgents, s.Final.Receipts = 4, make(map[string]history.Receipt)
	for _, side := range []string{"ann", "bob"} {
		s.Final.Receipts[side+"/paid"] = history.Receipt{
			ID: "receipt-paid", Outcome: "accepted", OrderVersion: 5, TotalMinor: 110, Ratings: []string{"ra1"},
		}
		s.Final.Receipts[side+"/refunded"] = history.Receipt{ID: "receipt-refunded", Outcome: "refunded", OrderVersion: 4, TotalMinor: 110}
	}
	s.ask("dan", history.ErasureRequest, "", "dan", 202, nil)
	s.missing("bob", history.CardGet, "dan")
	s.ask("cat", history.ErasureDue, "", "cat", 401, nil).Code = "unauthorized"
}

// refute is a finding of the agents' own client.
func (s *story) refute(operation string) {
	a := s.ask("ann", operation, "", "", history.Refuted, nil)
	a.Failure = "the log has shrunk"
}

// delay has a fault met a message, and cat's socket stay open long enough after it.
func (s *story) delay() {
	sent := s.find("later", 0)
	s.Faults = append(s.Faults, history.Fault{Name: "late", Start: sent.Start, Lifted: sent.End, End: sent.End})
	s.first(history.EventSocket).End += time.Second
}

// wakeUps has ann write to an open socket of bob's, by turns through the socket's server and another one, with the delays of both.
func (s *story) wakeUps(near, far time.Duration) {
	s.now = s.Faults[2].End + 12*time.Second
	for i := range 40 {
		s.message("ann", "bob", fmt.Sprintf("wake %d", i))
		delay := near
		if i%2 == 0 {
			s.Attempts[len(s.Attempts)-1].Process = "server 2"
			delay = far
		}
		s.Deliveries[len(s.Deliveries)-1].At += delay
		s.now += max(near, far)
	}
}
