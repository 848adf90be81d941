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
	{"a slow file that is refused", "slow uploads", "400 invalid_file", func(s *story) {
		s.slowly("slow", 400).Code = "invalid_file"
		s.sentAgain("slow")
	}},
	{"a slow file that is too slow on an idle machine", "slow uploads", "408 request_timeout", func(s *story) {
		s.slowly("slow", 408).Code = "request_timeout"
		s.sentAgain("slow")
	}},
	{"a slow file that finds no place although nothing happens", "refusals", "429 upload_busy", func(s *story) {
		a := s.slowly("slow", 429)
		a.Code, a.RetryAfter = "upload_busy", true
		s.Faults = nil
		s.sentAgain("slow")
	}},
	{"a slow file whose repeat is never taken", "slow uploads", "no repeat of it was ever taken", func(s *story) {
		s.slowly("slow", 503)
		s.refused("dan", history.FileUpload, "slow", "slow", 409, "upload_unavailable")
	}},
	{"a slow file that is lost", "files", "which is gone", func(s *story) {
		s.slowly("slow", 201)
		delete(s.Final.Files, "f-slow")
	}},
	{"a slow body that is cut off at once in a graceful change", "graceful changes", "no answer", func(s *story) {
		a := s.slowly("cut", history.Unanswered)
		a.End = a.Start + 2*time.Second
		s.faultAt(-12 * time.Second)
		s.Faults[len(s.Faults)-1].Graceful = true
		s.sentAgain("cut")
	}},
	{"a slow file is not taken although nothing happens", "service between faults", "503", func(s *story) {
		s.slowly("slow", 503).RetryAfter = true
		s.sentAgain("slow")
	}},
	{"a file that is cut off at once", "service between faults", "no answer", func(s *story) {
		a := s.slowly("cut", history.Unanswered)
		a.Slow, a.End = false, a.Start+time.Second
		s.sentAgain("cut")
	}},
	{"what a slow file has stored stays", "leaks", "unaccounted_storage", func(s *story) {
		s.Final.Before["unaccounted_storage"], s.Final.After["unaccounted_storage"] = 0, 1
	}},
}

var slowAllowed = []innocent{
	{"a slow file", "slow uploads", func(s *story) { s.slowly("slow", 201) }},
	{"a slow file that a restart cut off", "graceful changes", func(s *story) {
		s.slowly("slow", 503).RetryAfter = true
		s.faultAt(-5 * time.Second)
		s.Faults[len(s.Faults)-1].Graceful = true
		s.sentAgain("slow")
	}},
	{"a slow file that waited for its inspection when its server ended", "slow uploads", func(s *story) {
		a := s.slowly("slow", 429)
		a.Code, a.RetryAfter = "upload_busy", true
		s.faultAt(-time.Second)
		s.Faults[len(s.Faults)-1].Graceful = true
		s.sentAgain("slow")
	}},
	{"a slow file that a crash cut off", "slow uploads", func(s *story) {
		s.slowly("slow", history.Unanswered)
		s.faultAt(-5 * time.Second)
		s.sentAgain("slow")
	}},
	{"a file whose client is less patient than its inspection", "service between faults", func(s *story) {
		s.slowly("waits", history.Unanswered).Slow = false
		s.sentAgain("waits")
	}},
	{"a slow file on a machine that starved", "refusals", func(s *story) {
		s.slowly("slow", 408).Code = "request_timeout"
		s.faultAt(-5 * time.Second)
		s.Faults[len(s.Faults)-1].Name = history.MachineStarved
		s.sentAgain("slow")
	}},
}
