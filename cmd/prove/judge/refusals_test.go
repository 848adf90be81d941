package judge_test

import (
	"time"

	"stoa/cmd/prove/history"
)

// refused adds a refused attempt.
func (s *story) refused(agent, operation, key, subject string, status int, code string) {
	a := s.ask(agent, operation, key, subject, status, nil)
	a.Code, a.RetryAfter, a.Changes = code, status == 429, true
}

var refusalDefects = []defect{
	{"an unknown pair", "refusals", "nothing allows this refusal", func(s *story) {
		s.refused("ann", history.PostCreate, "", "", 400, "invalid_text")
	}},
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
}
