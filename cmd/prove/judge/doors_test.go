package judge_test

import (
	"time"

	"stoa/cmd/prove/history"
)

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
	a.Of = token
	if status == 401 {
		a.Code = "unauthorized"
	}
}

// hook is an event that came by a webhook, with the answer of its receiver.
func (s *story) hook(event string, connection, answer int) {
	d := s.delivery(event)
	d.Connection, d.ConnectedAt, d.At, d.Webhook, d.Answer = connection, 0, s.now, true, answer
	s.Deliveries = append(s.Deliveries, d)
}

var doorDefects = []defect{
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

var doorsAllowed = []innocent{
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
}
