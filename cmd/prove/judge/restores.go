package judge

import (
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// This file judges parts of a history: up to a moment, and without the time that a restore may have undone (history.Loss).
//
// The time from the begin of a backup until its restore is lost: answers from before it must hold afterwards, answers from within
// it may hold or not. So such a history is judged twice: first up to the moment when the servers began to stop, by the checks
// that may run early; then as a whole, with every request of the lost time as one without an answer. The remaining data must be
// consistent, because the checks do not know the moment of the cut.

// Early judges a running history as it was known at a moment, with the checks whose findings no later request, event or fault can
// change. Every ended request that began before until must be in the history. The faults must include those in force. It only
// reads the history.
func Early(h *history.History, until time.Duration) []Finding {
	return alongLosses(h, until, func() []Finding { return early(h, until) })
}

// early judges the part of the history that was known at a moment.
func early(h *history.History, until time.Duration) []Finding {
	r := newRun(known(h, until))
	var findings []Finding
	for _, c := range checks {
		if c.along != nil {
			findings = append(findings, c.find(r, c.along))
		}
	}
	return findings
}

// known returns the part of a history that was known at a moment. A running request has no answer yet; a fault that begins then
// excuses it.
func known(h *history.History, until time.Duration) *history.History {
	k := *h
	k.Length, k.Final = until, history.Final{}
	k.Attempts = kept(h.Attempts, func(a *history.Attempt) bool { return a.Start <= until })
	for i := range k.Attempts {
		if a := &k.Attempts[i]; a.End > until {
			forget(a, "it was under way")
			a.Process = ""
		}
	}
	k.Deliveries = kept(h.Deliveries, func(d *history.Delivery) bool { return d.At <= until })
	k.Acks = kept(h.Acks, func(a *history.Ack) bool { return a.Answered <= until })
	k.Mails = kept(h.Mails, func(m *history.Mail) bool { return m.At <= until })
	k.Losses = kept(h.Losses, func(l *history.Loss) bool { return l.Restored <= until })
	k.Bursts = kept(h.Bursts, func(b *history.Burst) bool { return b.End <= until })
	later := until + 24*time.Hour
	k.Faults = append(slices.Clone(h.Faults), history.Fault{Name: "what is not known yet", Start: until, Lifted: later, End: later})
	return &k
}

// kept returns the elements that fit.
func kept[T any](all []T, fits func(*T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(one T) bool { return !fits(&one) })
}

// forget removes the answer of an attempt.
func forget(a *history.Attempt, why string) {
	a.Status, a.Code, a.Body, a.Replayed, a.RetryAfter, a.Failure = history.Unanswered, "", nil, false, false, why
}

// alongLosses judges the history up to each restore, and then the whole of it by last. It ignores restores after until.
func alongLosses(h *history.History, until time.Duration, last func() []Finding) []Finding {
	var before []Finding
	for _, loss := range h.Losses {
		if loss.Restored <= until {
			before = merge(before, early(h, loss.Stopped))
		}
	}
	return merge(before, last())
}

// merge adds the findings of another part of the same history. A finding in both parts is listed once.
func merge(before, after []Finding) []Finding {
	for i := range after {
		f := &after[i]
		at := slices.IndexFunc(before, func(b Finding) bool { return b.Name == f.Name })
		if at < 0 {
			continue
		}
		f.Looked, f.Excused, f.Count = max(f.Looked, before[at].Looked), max(f.Excused, before[at].Excused), f.Count+before[at].Count
		for _, text := range before[at].Violations {
			if slices.Contains(f.Violations, text) {
				f.Count--
			} else if len(f.Violations) < violationsPerCheck {
				f.Violations = append(f.Violations, text)
			}
		}
	}
	return after
}

// lost holds the observations of a history's lost time.
type lost struct {
	// gone are the ids of things made in that time, which may no longer exist.
	gone map[string]bool
	// deliveries are the events that came: they need not come again.
	deliveries []history.Delivery
}

// listed are reads that name things whose creation was not answered.
var listed = is(history.DraftList, history.ResponseList)

// losing returns a history in which requests of lost time have no answer, and the lost observations.
func losing(h *history.History) (*history.History, *lost) {
	l := &lost{gone: make(map[string]bool)}
	if len(h.Losses) == 0 {
		return h, l
	}
	k := *h
	k.Attempts, k.Faults = slices.Clone(h.Attempts), slices.Clone(h.Faults)
	made := make(map[[2]string]string) // the orders that requests have made, by agent and id
	for _, loss := range h.Losses {
		k.Faults = append(k.Faults, history.Fault{
			Name: "what a restore may have undone", Start: loss.Begun, Lifted: loss.Restored, End: loss.Restored, Failover: true,
		})
		l.take(k.Attempts, loss, made)
	}
	for i := range k.Attempts {
		if a := &k.Attempts[i]; makesOrder(a.Operation) && a.Subject == "" {
			a.Subject = made[[2]string{a.Agent, a.ID}]
		}
	}
	isLost := func(at time.Duration) bool {
		return slices.ContainsFunc(h.Losses, func(loss history.Loss) bool { return at > loss.Begun && at < loss.Restored })
	}
	l.deliveries = kept(h.Deliveries, func(d *history.Delivery) bool { return isLost(d.At) })
	k.Deliveries = kept(h.Deliveries, func(d *history.Delivery) bool { return !isLost(d.At) })
	k.Acks = kept(h.Acks, func(a *history.Ack) bool { return !isLost(a.Answered) })
	return &k, l
}

// take removes the answers of one lost time, and notes the orders that the requests may have made.
func (l *lost) take(all []history.Attempt, loss history.Loss, made map[[2]string]string) {
	during, before := make(map[string]bool), make(map[string]bool)
	for i := range all {
		a := &all[i]
		switch {
		case a.Lost || !a.Succeeded() || !a.Changes && !listed(a):
		case a.End <= loss.Begun:
			before[a.Subject], before[a.Of] = true, true
			namedIn(a.Body, before)
		case a.Start < loss.Restored:
			namedIn(a.Body, during)
			if makesOrder(a.Operation) && a.Changed == "" {
				made[[2]string{a.Agent, a.ID}] = got(a).Order.ID
			}
		}
		if a.End > loss.Begun && a.Start < loss.Restored {
			a.Lost = true
			forget(a, "a restore may have undone it")
		}
	}
	for id := range during {
		if !before[id] {
			l.gone[id] = true
		}
	}
}

// named finds the ids in an answer: the values of its members "id" and of those that end with "_id".
var named = regexp.MustCompile(`"(?:id|[a-z_]+_id)"\s*:\s*"([^"]+)"`)

func namedIn(body json.RawMessage, into map[string]bool) {
	for _, found := range named.FindAllSubmatch(body, -1) {
		into[string(found[1])] = true
	}
}

// isGone reports whether an attempt was about something that a restore may have undone.
func (r *run) isGone(a *history.Attempt) bool {
	return r.lost.gone[a.Subject] || r.lost.gone[a.Of] || r.lost.gone[sent(a).ResponseID]
}

// isUndone reports whether a restore may have undone a request, so that no further attempt is needed.
func (q *request) isUndone() bool {
	return slices.ContainsFunc(q.attempts, func(a *history.Attempt) bool { return a.Lost })
}
