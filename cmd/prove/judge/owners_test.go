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

// holders has other agents hold dan's address.
func (s *story) holders(handles ...string) {
	owned := s.first(history.OwnerRequest).Start - time.Second
	for _, handle := range handles {
		s.Attempts = append(s.Attempts,
			history.Attempt{Agent: handle, Operation: history.OwnerConfirm, Subject: "of " + handle, Status: 200, Start: owned, End: owned},
			history.Attempt{
				Agent: handle, Operation: history.OwnerVerify, ID: "of " + handle, Subject: "owner@dan.example", Status: 200,
				Start: owned + 1, End: owned + 2, Body: s.Final.Onboarding["dan"],
			})
		s.Members = append(s.Members, history.Member{Handle: handle, ID: id(handle)})
		s.Final.Onboarding[handle] = s.Final.Onboarding["dan"]
		s.Final.Entries[handle] = s.Final.Entries["dan"]
		s.Final.Wallets[handle] = s.Final.Wallets["dan"]
	}
}

// refuse makes the last answer to dan's right code a refusal.
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
	{"a mail that is lost with its server", "mails", "was never taken", func(s *story) {
		s.mailFault().Mail = false
		s.Mails, s.Length = nil, s.now+3*time.Minute
	}},
	{"a mail that is lost before another code is asked for", "mails", "was never taken", func(s *story) {
		s.askAgain(12 * time.Second)
		s.Mails = nil
	}},
	{"a mail to another address", "mails", "went to bob@bob.example", func(s *story) { s.Mails[0].To = "bob@bob.example" }},
	{"a mail that nobody asked for", "mails", "which nobody asked for", func(s *story) {
		s.Mails = append(s.Mails, history.Mail{At: s.now, To: "bob@bob.example", MessageID: "x", Challenge: "x"})
	}},
	{"a mail before it was asked for", "mails", "which nobody asked for", func(s *story) {
		other := s.askAgain(5 * time.Second)
		s.Mails = append(s.Mails, history.Mail{At: other.Start - 1, To: other.Subject, MessageID: "x", Challenge: "x"})
	}},
	{"a mail twice without a fault", "mails", "without a fault", func(s *story) {
		again := s.Mails[0]
		again.At += time.Second
		s.Mails = append(s.Mails, again)
	}},
	{"two mails about one challenge", "mails", "and as x at", func(s *story) {
		s.Mails[0].Answered = false
		again := s.Mails[0]
		again.MessageID = "x"
		s.Mails = append(s.Mails, again)
	}},

	{"a verification that is lost", "owners", "in the end it is unverified", func(s *story) { s.editOwner(`"verified"`, `"unverified"`) }},
	{"a verification that has another effect", "owners", "in the end it is verified, x***@dan.example", func(s *story) {
		s.editOwner("o***@", "x***@")
	}},
	{"a verification that acts again", "owners", "in the end it is", func(s *story) { s.editOwner(`"verified_at":"dan"`, `"verified_at":"later"`) }},
	{"an answer that says less", "owners", "with pending", func(s *story) { edit(&s.last(history.OwnerVerify).Body, `"verified"`, `"pending"`) }},
	{"a verification without an answer", "owners", "no readable answer", func(s *story) { s.last(history.OwnerVerify).Body = nil }},
	{"an owner of nobody's choice", "owners", "whose code it never entered", func(s *story) {
		s.Final.Onboarding["bob"] = s.Final.Onboarding["dan"]
	}},
	{"an owner that cannot be read", "owners", "cannot be read at the end", func(s *story) { delete(s.Final.Onboarding, "dan") }},
	{"an onboarding that is none", "owners", "is unreadable", func(s *story) { s.Final.Onboarding["dan"] = raw("none") }},
	{"four agents of an address", "owners", "o***@dan.example holds 4 agents: dan, eve, fay, gil", func(s *story) {
		s.holders("eve", "fay", "gil")
	}},
	{"the owner did not confirm", "owners", "the owner had not confirmed", func(s *story) { s.last(history.OwnerConfirm).Subject = "other" }},
	{"the owner confirms too late", "owners", "the owner had not confirmed", func(s *story) { s.last(history.OwnerConfirm).Start = s.now + time.Hour }},
	{"a wrong code is right", "owners", "the code was wrong", func(s *story) { s.last(history.OwnerGuess).Status = 200 }},
	{"a right code is wrong", "owners", "the code was right", func(s *story) { s.refuse(400, "invalid_input") }},
	{"an address is full with two agents", "owners", "had not three agents", func(s *story) {
		s.refuse(409, "state_conflict")
		s.holders("eve", "fay")
	}},
	{"a request is refused for no reason", "owners", "the agent had no owner", func(s *story) {
		a := s.askAgain(0)
		a.Status, a.Code = 409, "state_conflict"
	}},
	{"a code for an agent that has an owner", "owners", "the agent had an owner", func(s *story) {
		a := s.askAgain(time.Minute)
		a.Status, a.Body = 202, raw(object{"challenge_id": "another"})
	}},
	{"a challenge without an id", "owners", "names no challenge", func(s *story) { s.first(history.OwnerRequest).Body = nil }},
	{"an agent with an owner is refused", "owners", "the agent had an owner", func(s *story) {
		a := *s.last(history.OwnerVerify)
		a.ID, a.Start, a.End, a.Status, a.Code, a.Body = "unknown", s.now+time.Second, s.now+time.Second, 400, "invalid_input", nil
		s.Attempts = append(s.Attempts, a)
	}},
	{"a link that is unknown", "owners", "its link was mailed", func(s *story) { s.last(history.OwnerOpen).Status = 404 }},
	{"a link that is over too early", "owners", "its link was mailed", func(s *story) { s.last(history.OwnerConfirm).Status = 410 }},

	{"a reward that never comes", "rewards", "never rewarded for avatar", func(s *story) { s.editOwner(`"missing":["avatar"]`, `"missing":[]`) }},
	{"a reward without an owner", "rewards", "no owner has verified it", func(s *story) {
		s.Attempts = slices.DeleteFunc(s.Attempts, func(a history.Attempt) bool { return a.Operation == history.OwnerVerify })
	}},
	{"a reward for half a profile", "rewards", "never named a specialty", func(s *story) {
		s.first(history.ProfileUpdate).Sent = nil
	}},
	{"a reward before the owner", "rewards", "shows a reward", func(s *story) {
		a := s.ask("ann", history.WalletHistory, "", "ann", 200, object{"entries": []object{{"id": 1, "kind": "reward"}}, "next_before": nil})
		a.Start, a.End = 0, time.Millisecond
	}},
	{"a reward that is not in the wallet", "rewards", "its wallet has []", func(s *story) { s.Final.Entries["dan"] = s.Final.Entries["dan"][:1] }},
	{"a reward twice", "rewards", "its wallet has [200000 200000]", func(s *story) {
		s.Final.Entries["dan"] = append(s.Final.Entries["dan"], s.Final.Entries["dan"][1])
	}},
	{"a verified agent counts as none", "rewards", "because it is not", func(s *story) {
		s.editOwner(`"missing":["avatar"],"status":"available"`, `"blocked_reasons":["email_unverified"],"status":"blocked"`)
	}},
	{"a dead mail server refuses requests", "graceful changes", "owner.request", func(s *story) {
		s.mailFault()
		s.first(history.OwnerRequest).Status = 503
	}},
	{"a code after five wrong ones", "owners", "five wrong codes had ended the challenge", func(s *story) {
		verified := s.last(history.OwnerVerify)
		for range 4 {
			guess := *s.first(history.OwnerGuess)
			guess.Start, guess.End = verified.Start-2, verified.Start-1
			s.Attempts = append(s.Attempts, guess)
		}
	}},
	{"the owner of another proof", "owners", "whose code it never entered", func(s *story) {
		s.ask("bob", history.RegistrationVerify, "", "other@bob.example", 200, nil)
		s.Final.Onboarding["bob"] = raw(object{"email_verification": object{"status": "verified", "email_hint": "b***@bob.example", "verified_at": "x"}})
	}},
	{"a dead mail server delays events", "prompt events", "took", func(s *story) {
		fault := s.mailFault()
		i := slices.IndexFunc(s.Deliveries, func(d history.Delivery) bool { return d.EventID == "e-later" })
		fault.Start = s.find("later", 0).Start
		s.Deliveries[i].At += 11 * time.Second
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
	{"a mail twice whose acceptance got lost", "mails", func(s *story) {
		s.Mails[0].Answered = false
		s.Mails = append(s.Mails, s.Mails[0])
	}},
	{"a mail twice whose sender got lost", "mails", func(s *story) {
		s.mailFault()
		s.Mails = append(s.Mails, s.Mails[0])
	}},
	{"a mail that another has replaced", "mails", func(s *story) {
		s.askAgain(time.Second)
		s.Mails = nil
	}},
	{"a mail of a request that was not answered", "mails", func(s *story) {
		other := s.askAgain(time.Second)
		s.Mails = append(s.Mails, history.Mail{At: other.End, To: other.Subject, MessageID: "x", Challenge: "x"})
	}},
	{"the eleventh mail of an address", "mails", func(s *story) {
		first := *s.first(history.OwnerRequest)
		for range 10 {
			a := first
			a.Agent, a.Status, a.Body, a.Start = "eve", history.Unanswered, nil, a.Start-time.Second
			s.Attempts = append(s.Attempts, a)
		}
		s.Mails = nil
	}},
	{"a code that was replaced", "owners", func(s *story) {
		s.askAgain(0)
		s.refuse(400, "invalid_input")
		s.editOwner(`"verified"`, `"unverified"`)
	}},
	{"a link that was replaced", "owners", func(s *story) {
		s.askAgain(0)
		s.last(history.OwnerOpen).Status = 410
	}},
	{"a code after five wrong ones", "owners", func(s *story) {
		for range 4 {
			s.Attempts = append(s.Attempts, *s.last(history.OwnerGuess))
		}
		s.refuse(400, "invalid_input")
		s.editOwner(`"verified"`, `"unverified"`)
	}},
	{"an address that is full", "owners", func(s *story) {
		s.refuse(409, "state_conflict")
		s.holders("eve", "fay", "gil")
		s.editOwner(`"verified"`, `"unverified"`)
	}},
	{"a verification that was not answered", "owners", func(s *story) { s.refuse(history.Unanswered, "") }},
	{"any code of an agent that has an owner", "owners", func(s *story) {
		a := *s.last(history.OwnerGuess)
		a.Start, a.End, a.Status = s.now+time.Second, s.now+time.Second, 200
		s.Attempts = append(s.Attempts, a)
	}},
}
