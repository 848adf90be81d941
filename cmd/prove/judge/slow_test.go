package judge_test

import (
	"time"

	"stoa/cmd/prove/history"
)

// slowly has dan send a file for twelve seconds.
func (s *story) slowly(key string, status int) *history.Attempt {
	body := any(nil)
	if status == 201 {
		body = object{"attachment": object{"id": "f-" + key, "sha256": "slow"}}
		s.Final.Files["f-"+key] = "slow"
	}
	a := s.ask("dan", history.FileUpload, key, "slow", status, body)
	a.Slow, a.End = true, a.Start+12*time.Second
	s.now = a.End
	s.Length = s.now + time.Minute
	return a
}

// sentAgain has dan send a file again, at once.
func (s *story) sentAgain(key string) {
	s.slowly(key, 201)
	a := s.last(history.FileUpload)
	a.Slow, a.End = false, a.Start+time.Second
}

var slowDefects = []defect{
	{"a slow body that is cut off at once in a graceful change", "graceful changes", "no answer", func(s *story) {
		a := s.slowly("cut", history.Unanswered)
		a.End = a.Start + 2*time.Second
		s.faultAt(-12 * time.Second)
		s.Faults[len(s.Faults)-1].Graceful = true
		s.sentAgain("cut")
	}},
}

var slowAllowed = []innocent{
	{"a slow file that a restart cut off", "graceful changes", func(s *story) {
		s.slowly("slow", 503).RetryAfter = true
		s.faultAt(-5 * time.Second)
		s.Faults[len(s.Faults)-1].Graceful = true
		s.sentAgain("slow")
	}},
}
