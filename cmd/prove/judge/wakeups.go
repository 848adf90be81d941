package judge

import (
	"slices"
	"time"
)

const (
	// wakeFactor is by how much longer the way to another server may be than that within one, and wakeSlack by how much all events
	// together may be later than that.
	wakeFactor = 5
	wakeSlack  = 10 * time.Second
	// wakeFrom is how many events of each kind there must be.
	wakeFrom = 15
)

// checkWakeUps compares how long messages take to open sockets of the server that took them and of other servers. Both happen beside each
// other on the same machine, so a busy one does not count: without a wake-up, events of other servers wait for the next search.
func checkWakeUps(r *run, f *Finding) {
	var near, far []time.Duration
	for _, agent := range r.events(f) {
		for _, e := range agent {
			if e.Kind != messageCreated || e.Process == "" {
				continue
			}
			s := r.sendings[[2]string{r.handles[e.SenderID], e.ClientMessageID}]
			if s == nil || !s.success || s.process == "" || e.ConnectedAt > s.start || r.disturbed(s.start, e.At) {
				continue
			}
			f.Looked++
			delay := max(e.At-s.answered, 0)
			if e.Process == s.process {
				near = append(near, delay)
			} else {
				far = append(far, delay)
			}
		}
	}
	if len(near) < wakeFrom || len(far) < wakeFrom {
		return
	}
	slices.Sort(near)
	slices.Sort(far)
	usually, together := wakeFactor*near[len(near)/2], time.Duration(0)
	for _, delay := range far {
		together += delay - usually
	}
	if half := far[len(far)/2]; half > usually && together > wakeSlack {
		f.violatedf("half of %d messages took more than %s to sockets of other servers, and half of %d less than %s to those of the same",
			len(far), clock(half), len(near), clock(near[len(near)/2]))
	}
}
