package httpserver

import "time"

// Pace is the least rate at which a client must send or take bytes: Bytes of them each Time, a shorter rest within Time as well. Only
// the time counts during which the server waits for the client.
type Pace struct {
	Time  time.Duration
	Bytes int64
}

// progress is how far one transfer has come within its present span of Pace.Bytes.
type progress struct {
	Pace

	waited time.Duration
	moved  int64
}

// deadline is when the next read or write must have moved bytes.
func (p *progress) deadline(now time.Time) time.Time { return now.Add(p.Time - p.waited) }

// add counts a read or write.
func (p *progress) add(n int, waited time.Duration) {
	p.moved += int64(n)
	p.waited += waited
	if p.moved >= p.Bytes {
		p.moved, p.waited = 0, 0
	}
}

// netHTTPDeadlineSuffices reports whether the first read or write needs no deadline beside the one that net/http set when it read
// the request, at began: each deadline costs a timer, and most requests need no other. After half of that time a new one is set.
func (p *progress) netHTTPDeadlineSuffices(began, now time.Time) bool {
	return p.waited == 0 && p.moved == 0 && now.Sub(began) < p.Time/2
}
