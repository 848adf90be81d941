package judge_test

import (
	"fmt"
	"time"

	"stoa/cmd/prove/history"
)

// refused adds a refused attempt.
func (s *story) refused(agent, operation, key, subject string, status int, code string) *history.Attempt {
	a := s.ask(agent, operation, key, subject, status, nil)
	a.Code, a.RetryAfter, a.Changes = code, status == 429, true
	return a
}

var refusalDefects = []defect{
	{"an unknown pair", "refusals", "nothing allows this refusal", func(s *story) {
		s.refused("ann", history.PostCreate, "", "", 400, "invalid_text")
	}},
	{"a reading is refused", "refusals", "nothing allows this refusal", func(s *story) {
		s.refused("ann", history.WalletGet, "", "", 404, "not_found")
	}},
	{"a token that is valid is refused", "refusals", "nothing allows this refusal", func(s *story) {
		s.refused("ann", history.WalletGet, "", "", 401, "unauthorized")
	}},
	{"a sound file is refused", "refusals", "nothing allows this refusal", func(s *story) {
		s.refused("ann", history.FileUpload, "sound", "hash", 400, "invalid_file")
	}},
	{"a sound file is refused for good", "refusals", "was not allowed at that moment", func(s *story) {
		s.refused("dan", history.FileUpload, "sound", "hash", 409, "upload_unavailable")
	}},
	{"no place for an upload", "refusals", "was not allowed at that moment", func(s *story) {
		s.now += time.Hour
		s.refused("dan", history.FileUpload, "sound", "hash", 429, "upload_busy")
	}},
	{"no room for a file", "refusals", "was not allowed at that moment", func(s *story) {
		s.refused("dan", history.FileUpload, "sound", "hash", 429, "storage_quota_exceeded")
	}},
	{"a handle that is free", "refusals", "was not allowed at that moment", func(s *story) {
		s.refused("twin", history.Register, "", "twin", 409, "handle_unavailable")
	}},
	{"a message to a friend is refused", "refusals", "was not allowed at that moment", func(s *story) {
		s.refused("ann", history.MessageSend, "new", "bob", 403, "contact_not_accepted")
	}},
	{"a new nonce is refused", "refusals", "was not allowed at that moment", func(s *story) {
		s.refused("ann", history.MessageSend, "hello", "bob", 409, "nonce_reuse")
	}},
	{"an offer that is refused for want of money", "refusals", "nothing allows this refusal", func(s *story) {
		s.refused("ann", history.OrderCreate, "poor", "", 409, "insufficient_funds")
	}},
	{"an order that its customer could pay", "refusals", "was not allowed at that moment", func(s *story) {
		delete(s.Final.Entries, "bob")
		s.refused("bob", history.OrderAccept, "rich", "paid", 409, "insufficient_funds")
	}},
	{"a selection that could be paid", "refusals", "was not allowed at that moment", func(s *story) {
		s.task()
		a := s.choose("one")
		a.Status, a.Code, a.Body = 409, "insufficient_funds", nil
	}},
	{"a response that could be selected", "refusals", "was not allowed at that moment", func(s *story) {
		s.task()
		a := s.choose("one")
		a.Status, a.Code, a.Body = 404, "not_found", nil
	}},
	{"an open task takes no response", "refusals", "was not allowed at that moment", func(s *story) {
		s.task()
		s.refused("dan", history.TaskRespond, "t2 by dan", "t2", 409, "state_conflict")
	}},
	{"an open response cannot be changed", "refusals", "was not allowed at that moment", func(s *story) {
		s.task()
		s.refused("bob", history.ResponseUpdate, "", "r-t2", 409, "state_conflict").Of = "t2"
	}},
	{"blocked by no one", "refusals", "was not allowed at that moment", func(s *story) {
		s.task()
		s.refused("dan", history.TaskRespond, "t2 by dan", "t2", 403, "contact_blocked")
	}},
	{"a first rating is refused", "refusals", "was not allowed at that moment", func(s *story) {
		s.refused("bob", history.OrderRate, "rate-bob", "paid", 409, "state_conflict")
	}},
	{"a draft is refused", "refusals", "was not allowed at that moment", func(s *story) {
		s.order("new", step{"ann", history.OrderCreate, "offered", ""}, step{"bob", history.OrderAccept, "funded", ""},
			step{"bob", history.OrderStart, "in_progress", ""})
		s.refused("bob", history.DraftSend, "draft", "new", 409, "state_conflict")
	}},
	{"a reply is refused", "refusals", "was not allowed at that moment", func(s *story) {
		s.refused("ann", history.DraftReply, "reply", "other", 409, "state_conflict").Of = "d1"
	}},
	{"an open profile cannot be reported", "refusals", "was not allowed at that moment", func(s *story) {
		s.refused("cat", history.Report, "", "ann", 404, "not_found")
	}},
	{"an open profile cannot publish", "refusals", "was not allowed at that moment", func(s *story) {
		s.refused("ann", history.PostUpdate, "", "p2", 400, "invalid_visibility").Sent = raw(object{"visibility": "public"})
	}},
	{"a post that is there cannot be changed", "refusals", "was not allowed at that moment", func(s *story) {
		s.refused("ann", history.PostUpdate, "", "p2", 404, "not_found")
	}},
	{"a code is refused too early", "refusals", "was not allowed at that moment", func(s *story) {
		s.refused("bob", history.OwnerRequest, "", "bob@x.example", 429, "rate_limited")
	}},
	{"a poll finds no place", "refusals", "was not allowed at that moment", func(s *story) {
		s.now += time.Hour
		s.refused("bob", history.EventPoll, "", "", 429, "rate_limited")
	}},

	{"limited too early", "rates", "after at most 1 of 120 changes", func(s *story) {
		s.now += time.Hour
		s.refused("bob", "bot.update", "", "", 200, "")
		s.refused("bob", "bot.update", "", "", 429, "write_limited")
	}},
	{"messages limited too early", "rates", "of 60 new messages", func(s *story) {
		s.refused("ann", history.MessageSend, "hello", "bob", 429, "rate_limited")
	}},
	{"a limit of each process", "rates", "new messages of cat: 61", func(s *story) { s.messages(61) }},
	{"changes without a limit", "rates", "changes of cat: 121", func(s *story) {
		for range 121 {
			s.now -= 80 * time.Millisecond
			s.refused("cat", "bot.update", "", "", 200, "")
		}
	}},
}

// messages has cat send messages, five a second.
func (s *story) messages(n int) {
	s.now += time.Hour
	for i := range n {
		s.now += 100 * time.Millisecond
		s.message("cat", "dan", fmt.Sprintf("burst-%d", i))
	}
}

var refusalsAllowed = []innocent{
	{"a file that was sent under another name at once", "refusals", func(s *story) {
		a := *s.find("upload", 0)
		a.Changed = "file"
		s.Attempts = append(s.Attempts, a)
		s.refused("ann", history.FileUpload, "upload", "hash", 409, "idempotency_conflict")
	}},
	{"an upload that is under way", "refusals", func(s *story) {
		a := *s.find("upload", 0)
		a.Start, a.End = s.now, s.now+time.Second
		s.Attempts = append(s.Attempts, a)
		s.refused("ann", history.FileUpload, "upload", "hash", 409, "upload_unavailable")
	}},
	{"a fifth upload at once", "refusals", func(s *story) {
		for i := range 4 {
			a := s.ask("dan", history.FileUpload, fmt.Sprint("u", i), "hash", history.Unanswered, nil)
			a.End += time.Second
		}
		s.refused("dan", history.FileUpload, "u5", "hash", 429, "upload_busy")
	}},
	{"a full store of an agent", "refusals", func(s *story) {
		for i := range history.FilesOfAgent {
			s.ask("dan", history.FileUpload, fmt.Sprint("u", i), "hash", 201, nil)
		}
		s.refused("dan", history.FileUpload, "more", "hash", 429, "storage_quota_exceeded")
	}},
	{"a nonce that another message may have taken", "refusals", func(s *story) {
		s.Sent = append(s.Sent, history.Sent{ClientMessageID: "n2", Sender: "ann", Recipient: "dan", Nonce: s.Sent[0].Nonce})
		s.refused("ann", history.MessageSend, "n2", "dan", 409, "nonce_reuse")
	}},
	{"an order that could not be paid while another was", "refusals", func(s *story) {
		s.editPaid(`"total_minor":110`, `"total_minor":499950`)
		accept := *s.find("refunded-2", 0)
		a := s.refused("ann", history.OrderAccept, "poor", "paid", 409, "insufficient_funds")
		a.Start, a.End = accept.Start, accept.End
	}},
	{"a response that was withdrawn", "refusals", func(s *story) {
		s.task()
		s.ask("bob", history.ResponseWithdraw, "", "r-t2", history.Unanswered, nil).Of = "t2"
		a := s.choose("one")
		a.Status, a.Code, a.Body = 404, "not_found", nil
	}},
	{"blocked by the customer", "refusals", func(s *story) {
		s.task()
		s.contact("ann", history.ContactBlock, "dan", 200, "blocked", true)
		s.refused("dan", history.TaskRespond, "t2 by dan", "t2", 403, "contact_blocked")
	}},
	{"a draft of a delivered order", "refusals", func(s *story) {
		s.refused("bob", history.DraftSend, "draft", "paid", 409, "state_conflict")
	}},
	{"a draft that has a reply", "refusals", func(s *story) {
		s.ask("ann", history.DraftReply, "one", "other", 200, object{"draft": object{"id": "d1"}}).Of = "d1"
		s.refused("ann", history.DraftReply, "two", "other", 409, "state_conflict").Of = "d1"
	}},
	{"a closed profile cannot publish", "refusals", func(s *story) {
		s.profile("poet", false)
		s.refused("ann", history.PostUpdate, "", "p2", 400, "invalid_visibility").Sent = raw(object{"visibility": "public"})
	}},
	{"a closed profile cannot be reported", "refusals", func(s *story) {
		s.profile("poet", false)
		s.refused("cat", history.Report, "", "ann", 404, "not_found")
	}},
	{"a code is asked for again", "refusals", func(s *story) {
		s.refused("dan", history.OwnerRequest, "", "owner@dan.example", 429, "rate_limited")
	}},
	{"as many messages as there may be", "rates", func(s *story) { s.messages(60) }},
	{"more messages than there may be, which are refused", "rates", func(s *story) {
		s.messages(60)
		s.refused("cat", history.MessageSend, "more", "dan", 429, "rate_limited")
	}},
	{"more messages over a longer time", "rates", func(s *story) {
		s.messages(40)
		s.now += 50 * time.Second
		for i := range 40 {
			s.message("cat", "dan", fmt.Sprintf("later-%d", i))
		}
	}},
	{"a repeated message does not count", "rates", func(s *story) {
		s.messages(60)
		s.again("burst-1")
	}},
	{"a failover forgets", "rates", func(s *story) {
		s.messages(30)
		s.Faults = append(s.Faults, history.Fault{Name: "primary-lost", Start: s.now, End: s.now, Failover: true})
		for i := range 60 {
			s.message("cat", "dan", fmt.Sprintf("later-%d", i))
		}
	}},
}
