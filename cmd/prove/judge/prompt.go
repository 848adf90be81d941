package judge

import (
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

const (
	// latest is how long an event may take to a socket that is open, while there is no fault.
	latest = 10 * time.Second
	// usual is how long half of the events may take on an idle machine. On a busy one requests take longer, and usualFactor says by how
	// many times their median half of the events may take longer.
	usual       = 300 * time.Millisecond
	usualFactor = 20
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
			if e.Kind != messageCreated || e.Webhook {
				continue
			}
			sent := r.sendings[[2]string{r.handles[e.SenderID], e.ClientMessageID}]
			if sent != nil && sent.success && e.ConnectedAt <= sent.start && r.disturbed(sent.start, e.At) {
				f.Excused++
			}
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
	if median := delays[len(delays)/2]; median > usual+usualFactor*r.medianReading(0, r.end()) {
		f.violatedf("half of %d messages took more than %s to an open socket", len(delays), clock(median))
	}
}

// readings are requests that wait for no lock of another request.
var readings = is(history.OrderGet, history.WalletGet, history.WalletHistory, history.CardGet, history.PostGet, history.TaskGet,
	history.LogCheckpoint)

// medianReading is the median duration of the readings that were under way in a span and no fault but a graceful one met. It shows
// how busy the machine was.
func (r *run) medianReading(from, to time.Duration) time.Duration {
	var lengths []time.Duration
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if readings(a) && !unknown(a) && a.Start < to && a.End > from && !during(r, a, false, history.MachineStarved) {
			lengths = append(lengths, a.End-a.Start)
		}
	}
	if len(lengths) == 0 {
		return 0
	}
	slices.Sort(lengths)
	return lengths[len(lengths)/2]
}

// disturbed reports that a fault was in force at some moment of a span, or a moment before it. What ails the mail server delays no
// event.
func (r *run) disturbed(from, to time.Duration) bool {
	return slices.ContainsFunc(r.Faults, func(fault history.Fault) bool {
		return !fault.Mail && fault.Start <= to && fault.End+aftermath >= from
	})
}
