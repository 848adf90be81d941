package judge_test

import (
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// mailFault adds a fault of the mail server that dan's mail met.
func (s *story) mailFault() *history.Fault {
	at := s.first(history.OwnerRequest).Start
	s.Faults = append(s.Faults, history.Fault{
		Name: "mail-dead", Target: "the mail server", Start: at, Lifted: at + time.Second, End: at + time.Second, Graceful: true, Mail: true,
	})
	return &s.Faults[len(s.Faults)-1]
}

// askAgain has dan ask for another code while the challenge is open.
func (s *story) askAgain(after time.Duration) *history.Attempt {
	first := s.first(history.OwnerRequest)
	start := first.End + after
	other := history.Attempt{
		Agent: "dan", Operation: history.OwnerRequest, Subject: "other@dan.example", Process: "server 1", Start: start, End: start + time.Millisecond,
		Status: history.Unanswered, Failure: "connection reset",
	}
	s.Attempts = append(s.Attempts, other)
	return &s.Attempts[len(s.Attempts)-1]
}

// refuse replaces the last answer to dan's right code by a refusal.
func (s *story) refuse(status int, code string) {
	a := s.last(history.OwnerVerify)
	a.Status, a.Code, a.Body = status, code, nil
}

var ownerDefects = []defect{
	{"a mail that never comes", "mails", "was never taken", func(s *story) { s.Mails = nil }},
	{"a mail that is late", "mails", "was taken at", func(s *story) { s.Mails[0].At += 11 * time.Second }},
	{"a mail that is not sent again after a fault", "mails", "was never taken", func(s *story) {
		s.mailFault()
		s.Mails, s.Length = nil, s.now+time.Hour
	}},

	{"a verification that is lost", "owners", "in the end it is unverified", func(s *story) { s.editOwner(`"verified"`, `"unverified"`) }},
	{"a verification that has another effect", "owners", "in the end it is verified, x***@dan.example", func(s *story) {
		s.editOwner("o***@", "x***@")
	}},
	{"a verification that acts again", "owners", "in the end it is", func(s *story) { s.editOwner(`"verified_at":"dan"`, `"verified_at":"later"`) }},

	{"a reward that never comes", "rewards", "never rewarded for avatar", func(s *story) { s.editOwner(`"missing":["avatar"]`, `"missing":[]`) }},
	{"a reward without an owner", "rewards", "no owner has verified it", func(s *story) {
		s.Attempts = slices.DeleteFunc(s.Attempts, func(a history.Attempt) bool { return a.Operation == history.OwnerVerify })
	}},
	{"a dead mail server refuses requests", "graceful changes", "owner.request", func(s *story) {
		s.mailFault()
		s.first(history.OwnerRequest).Status = 503
	}},
}

var ownersAllowed = []innocent{
	{"an owner that was proven before the registration", "owners", func(s *story) {
		s.ask("bob", history.RegistrationVerify, "", "bob@bob.example", 200, nil)
		s.Final.Onboarding["bob"] = raw(object{"email_verification": object{"status": "verified", "email_hint": "b***@bob.example", "verified_at": "x"}})
	}},
	{"a mail that is late after a fault", "mails", func(s *story) {
		s.mailFault()
		s.Mails[0].At += 15 * time.Second
	}},
	{"a mail that comes with the next server", "mails", func(s *story) {
		s.mailFault().Mail = false
		s.Mails[0].At += 2 * time.Minute
	}},
	{"a code that was replaced", "owners", func(s *story) {
		s.askAgain(0)
		s.refuse(400, "invalid_input")
		s.editOwner(`"verified"`, `"unverified"`)
	}},
}
