package judge_test

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
}
