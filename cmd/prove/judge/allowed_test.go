package judge_test

import (
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// innocent is a history that looks broken, but keeps every promise.
type innocent struct {
	name, check string
	plant       func(s *story)
}

var allowed = []innocent{
	{"the load balancer's own 503", "retry after", func(s *story) {
		a := s.first("tasks.list")
		a.Process, a.RetryAfter = "", false
	}},
	{"an upload whose inspection is resumed", "service between faults", func(s *story) {
		s.find("upload", 0).End += 30 * time.Second
		s.loseUpload()
	}},
	{"a machine that has no time for the servers", "service between faults", func(s *story) {
		s.now = s.Faults[2].End + 12*time.Second
		s.missing("bob", history.CardGet, "dan")
		s.last(history.CardGet).End += 3 * time.Second
		a := s.ask("dan", "profile.update", "", "", 503, nil)
		a.RetryAfter, a.End = true, a.Start+4*time.Second
		s.busy()
	}},
	{"another fault during a graceful one", "graceful changes", func(s *story) {
		s.last("tasks.list").Status = 503
		s.Faults[1].End = s.Faults[2].End
	}},
	{"a refusal settles", "settled", func(s *story) {
		a := s.find("again", 1)
		a.Status, a.Code = 403, "contact_not_accepted"
	}},
	{"a refusal before the request was looked at", "orders", func(s *story) {
		a := *s.find("paid-2", 0)
		a.Status, a.Code = 401, "unauthorized"
		s.Attempts = append(s.Attempts, a)
	}},
	{"an upload that is unfinished", "repeats", func(s *story) {
		a := *s.find("upload", 0)
		a.Start, a.End, a.Status, a.Code, a.Body = s.now, s.now, 409, "upload_unavailable", nil
		s.Attempts = append(s.Attempts, a)
	}},
	{"an event again on a connection that was open before its ack was answered", "acknowledged events", func(s *story) {
		d := s.delivery("e-hello")
		d.Connection, d.ConnectedAt, d.At = 9, s.Acks[0].Answered-time.Millisecond, s.Acks[0].Answered+time.Second
		s.Deliveries = append(s.Deliveries, d)
	}},
	{"events again on another connection", "event order", func(s *story) {
		for _, event := range []string{"e-hello", "e-paid-2-bob"} {
			d := s.delivery(event)
			d.Connection = 9
			s.Deliveries = append(s.Deliveries, d)
		}
	}},
	{"messages that were sent at the same time, in any order", "messages", func(s *story) {
		s.find("hello", 0).End = s.find("again", 0).End
		slices.Reverse(s.Final.Messages["ann/bob"])
		slices.Reverse(s.Final.Messages["bob/ann"])
	}},
	{"an unanswered request may have counted", "limits", func(s *story) { s.attempts("burst.socket")[0].Status = history.Unanswered }},
	{"a failover forgets what had counted", "limits", func(s *story) {
		s.Faults[1].Failover = true
		s.last("burst.socket").Status = 200
	}},
	{"recommendations again", "event contents", func(s *story) {
		s.event("ann", 1, "e-x", "profile.recommendations", object{"bot_id": id("ann")})
		s.event("ann", 1, "e-y", "profile.recommendations", object{"bot_id": id("ann")})
	}},
	{"a later page of a wallet", "wallets", func(s *story) {
		a := s.last(history.WalletHistory)
		a.Subject, a.Body = "/wallet/history?before=2", raw(object{"entries": s.Final.Entries["bob"][:1], "next_before": nil})
	}},
	{"some more goroutines", "leaks", func(s *story) { s.Final.After["goroutines"] = 158 }},
	{"a wallet read while it changes", "wallets", func(s *story) {
		accept := s.find("paid-2", 0)
		s.first(history.WalletGet).Start, s.first(history.WalletGet).End = accept.Start, accept.End
		read := s.attempts(history.WalletGet)[1]
		read.Start, read.End = accept.Start, accept.End
	}},
}
