package client

import (
	"bytes"
	"os"
	"strings"
	"sync"
)

// Seen remembers which events were handled, so that one that comes again (§6) is acknowledged and not handled twice.
type Seen struct {
	mu    sync.Mutex
	file  *os.File
	known map[string]bool
}

// keptEvents is how many events a Seen remembers from one run to the next. Far fewer can come again: 256 are in flight at most.
const keptEvents = 10_000

// OpenSeen opens the file, with one id a line, or makes it. One program at a time may have it open.
func OpenSeen(path string) (*Seen, error) {
	raw, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	if end := bytes.LastIndexByte(raw, '\n'); end+1 < len(raw) {
		raw = raw[:end+1] // a line that a crash has cut
	}
	lines := strings.Fields(string(raw))
	lines = lines[max(0, len(lines)-keptEvents):]
	s := &Seen{known: make(map[string]bool, len(lines))}
	for _, id := range lines {
		s.known[id] = true
	}
	if err := writeFile(path, []byte(strings.Join(append(lines, ""), "\n"))); err != nil {
		return nil, err
	}
	s.file, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
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
	if _, err := s.file.WriteString(id + "\n"); err != nil {
		return err
	}
	s.known[id] = true
	return s.file.Sync()
}

// Close closes the file.
func (s *Seen) Close() error { return s.file.Close() }
