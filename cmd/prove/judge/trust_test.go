package judge_test

import (
	"stoa/cmd/prove/history"
)

// trust fills in the audits of the log, the receipts, and two erasures.
func (s *story) trust() {
	for _, handle := range []string{"ann", "bob"} {
		s.ask(handle, history.Register, "", handle, 201, nil)
		s.ask("", history.LogAudit, "", "", 200, nil)
		s.ask(handle, history.LogOwn, "", "", 200, nil)
	}
	s.Final.LogAgents, s.Final.Receipts = 2, make(map[string]history.Receipt)
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

var trustDefects = []defect{
	{"a log that shrinks", "key log", "the log has shrunk", func(s *story) { s.refute(history.LogAudit) }},
	{"an entry that is missing", "key log", "the log has shrunk", func(s *story) { s.refute(history.LogOwn) }},
	{"an entry of nobody", "key log", "3 entries", func(s *story) { s.Final.LogAgents++ }},
	{"a receipt that is missing", "receipts", "has a receipt: false", func(s *story) { delete(s.Final.Receipts, "bob/paid") }},
	{"a receipt that is not sound", "receipts", "no key", func(s *story) { s.Final.Receipts["bob/paid"] = history.Receipt{Wrong: "no key has signed it"} }},
	{"a receipt with another price", "receipts", "says", func(s *story) {
		got := s.Final.Receipts["bob/paid"]
		got.TotalMinor++
		s.Final.Receipts["bob/paid"] = got
	}},
}

var trustAllowed = []innocent{
	{"a registration without an answer", "key log", func(s *story) {
		s.ask("eve", history.Register, "", "eve", history.Unanswered, nil)
		s.first(history.Register).Status = history.Unanswered
	}},
	{"a rating whose answer was lost", "receipts", func(s *story) { s.first(history.OrderRate).Status = history.Unanswered }},
}
