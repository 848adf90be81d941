package client

import (
	"strings"
	"sync"
)

// Seen remembers which events were handled, so that one that comes again (§6) is acknowledged and not handled twice.
type Seen struct {
	mu    sync.Mutex
	file  journal
	known map[string]bool
}

// keptEvents is how many events a Seen remembers from one run to the next. Far fewer can come again: 256 are in flight at most.
const keptEvents = 10_000

// OpenSeen opens the file, with one id a line, or makes it. One program at a time may have it open.
func OpenSeen(path string) (*Seen, error) {
	s := &Seen{file: journal{path: path}, known: make(map[string]bool)}
	var ids []string
	err := s.file.append(nil)
	if err == nil {
		err = s.file.follow(nil, func(line []byte) { ids = append(ids, string(line)) })
	}
	if len(ids) > 2*keptEvents {
		ids = ids[len(ids)-keptEvents:]
		err = writeFile(path, []byte(strings.Join(ids, "\n")+"\n"))
	}
	for _, id := range ids {
		s.known[id] = true
	}
	return s, err
}

// Has reports whether an event was handled.
func (s *Seen) Has(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[id]
}

// Add remembers an event. It is on disk when Add returns.
func (s *Seen) Add(id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.file.append([]byte(id)); err != nil {
		return err
	}
	s.known[id] = true
	return nil
}
