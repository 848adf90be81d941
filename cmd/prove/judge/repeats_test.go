package judge_test

import (
	"stoa/cmd/prove/history"
)

var repeatDefects = []defect{
	{"acted twice", "repeats", "answered 201 by 2 attempts", func(s *story) { s.again("hello").Status = 201 }},
	{"acted twice without a 201", "repeats", "order.start paid-3 of bob acted in 2 attempts", func(s *story) {
		s.again("paid-3").Replayed = false
	}},
	{"answers disagree", "repeats", `message.id is "m-other" instead of "m-hello"`, func(s *story) {
		s.again("hello").Body = raw(object{"message": object{"id": "m-other"}})
	}},
	{"a replay shows the newest version", "repeats", "order.version is 5 instead of 2", func(s *story) {
		s.again("paid-2").Body = s.find("paid-5", 0).Body
	}},
	{"a replay lacks a member", "repeats", "order.total_minor is null instead of 110", func(s *story) {
		edit(&s.again("paid-2").Body, `,"total_minor":110`, "")
	}},
	{"a replay has a new member", "repeats", "order.other is 1 instead of null", func(s *story) {
		edit(&s.again("paid-2").Body, `"total_minor":110`, `"total_minor":110,"other":1`)
	}},
	{"a replay changes another member of a response", "repeats", "response.id", func(s *story) {
		for _, id := range []string{"r1", "r2"} {
			s.ask("bob", history.TaskRespond, "t by bob", "t", 200, object{"response": object{"id": id}})
		}
	}},
	{"a repeat is refused", "repeats", "403 contact_not_accepted by server 1, after message.send by ann", func(s *story) {
		a := s.again("hello")
		a.Status, a.Code, a.Replayed = 403, "contact_not_accepted", false
	}},
	{"no answer was recorded", "repeats", "no readable answer", func(s *story) { s.find("hello", 0).Body = nil }},
	{"no second answer was recorded", "repeats", "it has no readable answer", func(s *story) { s.again("hello").Body = nil }},
	{"one id for two operations", "repeats", "has also order.reject under this id", func(s *story) {
		a := *s.find("paid-2", 0)
		a.Operation = history.OrderReject
		s.Attempts = append(s.Attempts, a)
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
	{"another registration with one proof", "changed repeats", "instead of registration_replay_conflict", func(s *story) {
		s.ask("eve", history.Register, "eve", "eve", 201, object{"token": "x"})
		s.change("eve", "display_name")
	}},
}

var repeatsAllowed = []innocent{
	{"a stored answer", "repeats", func(s *story) { s.again("paid-2") }},
	{"the first answer was lost", "repeats", func(s *story) {
		s.again("hello")
		s.find("hello", 0).Status = history.Unanswered
	}},
	{"a response was selected meanwhile", "repeats", func(s *story) {
		for _, state := range []string{"open", "selected"} {
			s.ask("bob", history.TaskRespond, "t by bob", "t", 200, object{"response": object{"id": "r1", "state": state}})
		}
	}},
	{"a registration has no 200", "repeats", func(s *story) {
		for range 2 {
			s.ask("eve", history.Register, "eve", "eve", 201, object{"token": "x"})
		}
	}},
	{"other content before the first was answered", "changed repeats", func(s *story) {
		a := s.change("hello", "text")
		a.Start, a.Code = s.find("hello", 0).Start, "version_conflict"
	}},
	{"other content that a limit refuses", "changed repeats", func(s *story) {
		a := s.change("hello", "text")
		a.Status, a.Code = 429, "write_limited"
	}},
}
