package judge_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

// mailFault adds a fault of the mail server that dan's mail met.
func (s *story) mailFault() *history.Fault {
	f := s.faultAt(s.first(history.OwnerRequest).Start)
	f.Name, f.Target, f.Graceful, f.Mail = "mail-dead", "the mail server", true, true
	return f
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

	{"a wrong code that is taken", "owners", "the code was wrong", func(s *story) { s.first(history.OwnerGuess).Status = 200 }},
	{"a verification before the owner confirms", "owners", "the owner had not confirmed", func(s *story) {
		s.Attempts = slices.DeleteFunc(s.Attempts, func(a history.Attempt) bool { return a.Operation == history.OwnerConfirm })
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
	{"a wallet that shows a reward without an owner", "rewards", "shows a reward, and no owner", func(s *story) {
		s.last(history.WalletHistory).Body = raw(object{"entries": []history.Entry{{ID: 1, Kind: "reward", DeltaMinor: 1}}})
	}},
	{"a dead mail server refuses requests", "graceful changes", "owner.request", func(s *story) {
		s.mailFault()
		s.first(history.OwnerRequest).Status = 503
	}},

	{"a token that was changed", "tokens", "with token 0, which had ended", func(s *story) { s.use("token 0", 200) }},
	{"a token that was revoked", "tokens", "with token 1, which had ended", func(s *story) {
		s.ask("dan", history.TokenRevoke, "", "dan", 200, nil).Of = "token 1"
		s.use("token 1", 200)
	}},
	{"a new token is refused", "tokens", "with token 1, which was good", func(s *story) { s.use("token 1", 401) }},
	{"an act without an entry", "audit", "has 0 entries of", func(s *story) { s.Final.Audit = nil }},
	{"an event that a receiver did not take", "webhooks", "never came again", func(s *story) {
		s.hook("e-later", 30, 500)
		s.Length += time.Hour
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
		asked := s.first(history.OwnerRequest).End
		a := s.ask("dan", history.OwnerRequest, "", "other@dan.example", history.Unanswered, nil)
		a.Start, a.End, a.Failure = asked, asked+time.Millisecond, "connection reset"
		s.refuse(400, "invalid_input")
		s.editOwner(`"verified"`, `"unverified"`)
	}},

	{"a token that may have been changed", "tokens", func(s *story) {
		s.rotate("token 1", history.Unanswered)
		s.use("token 1", 401)
		s.use("token 1", 200)
	}},
	{"a token that is used while it changes", "tokens", func(s *story) {
		s.rotate("token 1", 200).End += time.Second
		s.use("token 1", 200)
	}},
	{"an event that was not taken just before the end", "webhooks", func(s *story) { s.hook("e-later", 30, 500) }},
	{"an event that was acknowledged elsewhere", "webhooks", func(s *story) {
		s.hook("e-later", 30, 500)
		s.Length += time.Hour
		s.Acks = append(s.Acks, history.Ack{Agent: "cat", EventID: "e-later", Answered: s.now})
	}},

	{"the load balancer's own 503", "retry after", func(s *story) {
		a := s.first("tasks.list")
		a.Process, a.RetryAfter = "", false
	}},
	{"an upload whose inspection is resumed", "service between faults", func(s *story) {
		a := s.find("upload", 0)
		a.Start, a.End = s.Faults[1].Start, a.End+30*time.Second
		a.Status, a.Body, a.Failure = history.Unanswered, nil, "connection reset"
	}},
	{"a machine that has no time for the servers", "service between faults", func(s *story) {
		s.slowReading()
		s.refusedBusy("profile.update", 4*time.Second)
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
		a := s.copied("paid-2")
		a.Status, a.Code = 401, "unauthorized"
	}},
	{"an upload that is unfinished", "repeats", func(s *story) {
		a := s.copied("upload")
		a.Start, a.End, a.Status, a.Code, a.Body = s.now, s.now, 409, "upload_unavailable", nil
	}},
	{"an event again on a connection that was open before its ack was answered", "acknowledged events", func(s *story) {
		d := s.came("e-hello", 9)
		d.ConnectedAt, d.At = s.Acks[0].Answered-time.Millisecond, s.Acks[0].Answered+time.Second
	}},
	{"events again on another connection", "event order", func(s *story) {
		s.came("e-hello", 9)
		s.came("e-paid-2-bob", 9)
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
	{"the file that a killed server was writing", "leaks", func(s *story) {
		a := s.ask("dan", history.FileUpload, "cut", "hash", history.Unanswered, nil)
		a.Start, a.End = s.Faults[1].Start, s.Faults[1].End
		s.Final.After["temporary_files"] = 1
	}},
	{"a wallet read while it changes", "wallets", func(s *story) {
		accept := s.find("paid-2", 0)
		s.first(history.WalletGet).Start, s.first(history.WalletGet).End = accept.Start, accept.End
		read := s.attempts(history.WalletGet)[1]
		read.Start, read.End = accept.Start, accept.End
	}},
}

// doors has dan change its token, and a webhook bring an event of bob's at the second attempt.
func (s *story) doors() {
	s.rotate("token 0", 200)
	s.use("token 0", 401)
	s.use("token 1", 200)
	s.Final.Acts, s.Final.Audit = []string{"updateSettings ", "reissueToken id"}, []string{"reissueToken id", "updateSettings settings"}
	for i, answer := range []int{500, 200} {
		s.hook("e-hello", 20+i, answer)
	}
}

// rotate changes a token of dan's, and use reads with it.
func (s *story) rotate(token string, status int) *history.Attempt {
	a := s.ask("dan", history.TokenRotate, "", "dan", status, nil)
	a.Of = token
	return a
}

func (s *story) use(token string, status int) {
	a := s.ask("dan", history.TokenUse, "", "dan", status, nil)
	a.Of, a.Code = token, map[int]string{401: "unauthorized"}[status]
}

// hook is an event that came by a webhook, with the answer of its receiver.
func (s *story) hook(event string, connection, answer int) {
	d := s.came(event, connection)
	d.ConnectedAt, d.At, d.Webhook, d.Answer = 0, s.now, true, answer
}

// innocent is a history that looks broken, but keeps every promise.
type innocent struct {
	name, check string
	plant       func(s *story)
}

// refusedBusy is a refusal after some time, and an answer that the canary had to wait for, just then.
func (s *story) refusedBusy(operation string, after time.Duration) {
	a := s.ask("dan", operation, "", "", 503, nil)
	a.RetryAfter, a.End = true, a.Start+after
	s.Delays = append(s.Delays, history.Delay{Start: s.now, End: s.now + 100*time.Millisecond})
}

// slowReading makes bob read a profile for three seconds, without a fault.
func (s *story) slowReading() {
	s.now = s.Faults[2].End + 12*time.Second
	s.missing("bob", history.CardGet, "dan")
	s.last(history.CardGet).End += 3 * time.Second
}

// Each event that a check passes over is counted, with its reason.
func TestExcusesAreCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []innocent{
		{"the machine had no time for a request", "service between faults", func(s *story) {
			s.slowReading()
			s.refusedBusy("profile.update", 4*time.Second)
		}},
		{"the machine had no time for a search", "service between faults", func(s *story) {
			s.now = s.Faults[2].End + 12*time.Second
			s.refusedBusy("burst.search", 1200*time.Millisecond)
		}},
		{"the machine starved during a request", "service between faults", func(s *story) {
			s.now = s.Faults[2].End + 12*time.Second
			s.ask("dan", "profile.update", "", "", history.Unanswered, nil)
			s.Faults = append(s.Faults, history.Fault{Name: history.MachineStarved, Start: s.now, Lifted: s.now, End: s.now})
		}},
		{"a restart cut a slow file off", "graceful changes", (*story).cutOff},
		{"a message whose answer is not known", "messages", func(s *story) {
			s.ask("ann", history.MessageSend, "lost", "bob", history.Unanswered, nil)
		}},
		{"an act on an order whose answer is not known", "orders", func(s *story) {
			s.ask("ann", history.OrderDispute, "lost", "paid", history.Unanswered, nil)
		}},
		{"a limit that a failover forgot", "limits", func(s *story) { s.Faults[1].Failover = true }},
		{"an event that is due after its socket has ended", "open sockets", func(s *story) {
			s.delay()
			s.Faults[len(s.Faults)-1].End = s.first(history.EventSocket).End
		}},
		{"a socket whose token ended during a fault", "tokens", func(s *story) {
			s.ask("dan", history.TokenSocket, "", "dan", 200, nil).Of = "token 0"
			s.faultAt(s.now)
		}},
		{"an event that failed before a fault and is due after the end", "webhooks", func(s *story) {
			s.posted("e-again", 0, 500)
			s.faultAt(s.now + time.Second)
			s.Length = s.now + 100*time.Second // the claim of a killed server lasts for a minute
		}},
		{"a mail that is not due yet", "mails", func(s *story) {
			s.Mails = nil
			s.mailFault()
		}},
		{"a request that a restore may have undone", "settled", func(s *story) {
			s.restored(func() { s.message("ann", "bob", "then") })
		}},
	} {
		s := right()
		before := finding(t, judge.Judge(&s.History), c.check).Excused
		s = right()
		c.plant(s)
		f := finding(t, judge.Judge(&s.History), c.check)
		require.Empty(t, f.Violations, c.name)
		require.Greater(t, f.Excused, before, c.name)
	}
}
