package judge

import (
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

const (
	// latest is how long an event may take to a socket that is open, while there is no fault.
	latest = 3 * time.Second
	// usual is how long half of the events may take.
	usual = 300 * time.Millisecond
	// aftermath is how long after a fault events may still be late.
	aftermath = time.Second
	// usualFrom is how many events there must be before usual is judged.
	usualFrom = 20
)

// checkPrompt measures the way of messages from the answer to their sender to a socket that was open before they were sent. An
// event without a wake-up is found by a later search, which the median shows.
func checkPrompt(r *run, f *Finding) {
	received := make(map[content]time.Duration)
	for _, agent := range r.events(f) {
		for _, e := range agent {
			if e.Kind != messageCreated {
				continue
			}
			sent := r.sendings[[2]string{r.handles[e.SenderID], e.ClientMessageID}]
			if sent == nil || !sent.success || e.ConnectedAt > sent.start || r.disturbed(sent.start, e.At) {
				continue
			}
			delay := max(e.At-sent.answered, 0)
			if before, again := received[e.content()]; !again || delay < before {
				received[e.content()] = delay
			}
		}
	}
	var delays []time.Duration
	for about, delay := range received {
		f.Looked++
		delays = append(delays, delay)
		if delay > latest {
			f.violatedf("%s took %s to an open socket", about, clock(delay))
		}
	}
	if len(delays) < usualFrom {
		return
	}
	slices.Sort(delays)
	if median := delays[len(delays)/2]; median > usual {
		f.violatedf("half of %d messages took more than %s to an open socket", len(delays), clock(median))
	}
}

// disturbed reports that a fault was in force at some moment of a span, or a moment before it. What ails the mail server delays no
// event.
func (r *run) disturbed(from, to time.Duration) bool {
	return slices.ContainsFunc(r.Faults, func(fault history.Fault) bool {
		return !fault.Mail && fault.Start <= to && fault.End+aftermath >= from
	})
}
