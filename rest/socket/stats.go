package socket

import "sync/atomic"

// Stats are the figures of one process since it began.
type Stats struct {
	// Open is the number of connections at the moment.
	Open int
	// Opened counts accepted connections.
	Opened int64
	// Closed counts ended connections, refused ones included, by close code; 0 stands for those that broke off.
	Closed map[int]int64
	// Delivered and Acknowledged count events sent and acks answered.
	Delivered    int64
	Acknowledged int64
	// Heard counts the wake-ups that came from other processes.
	Heard int64
	// Processes is the number of processes that listen, this one included, as it was a second ago.
	Processes int
	// Linked reports whether the process listens to the others and can accept connections.
	Linked bool
}

// codes are the close codes counted by themselves; a peer may close with any other.
var codes = [...]int{0, 1000, 1001, errFraming.code, codeUnavailable, codeProtocol, codeIdentity, codeAccess, codeLimit}

type counts struct {
	opened       atomic.Int64
	delivered    atomic.Int64
	acknowledged atomic.Int64
	wakeups      atomic.Int64
	// fetched counts batches that sessions have read.
	fetched   atomic.Int64
	processes atomic.Int64
	byCode    [len(codes)]atomic.Int64
}

// closed counts an end; a code that is not in the list counts as one that broke off.
func (c *counts) closed(code int) {
	for i, known := range codes {
		if code == known {
			c.byCode[i].Add(1)
			return
		}
	}
	c.byCode[0].Add(1)
}

// Stats reads the figures. They are not of one moment.
func (h *Hub) Stats() Stats {
	s := Stats{
		Open: h.count(), Opened: h.counts.opened.Load(), Closed: make(map[int]int64, len(codes)),
		Delivered: h.counts.delivered.Load(), Acknowledged: h.counts.acknowledged.Load(), Heard: h.counts.wakeups.Load(),
		Processes: int(h.counts.processes.Load()),
	}
	for i, code := range codes {
		s.Closed[code] = h.counts.byCode[i].Load()
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	s.Linked = h.process != 0
	return s
}
