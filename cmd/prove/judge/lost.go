package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// This file is all that the judge knows of backups that are restored (history.Loss).
//
// The time from the beginning of a backup until it is restored is lost: what was answered before it must be there afterwards, and
// what was answered in it may be there or not. So such a history is judged twice: up to the moment when the servers began to end, as
// if nothing had followed, by the checks that may be early; and altogether, with everything that was under way in the lost time as a
// request whose answer never came. What is left must be whole, since the checks do not know where the cut was.

// alongLosses judges the history up to each restore, and then the whole of it by last. Restores after until have not been yet.
func alongLosses(h *history.History, until time.Duration, last func() []Finding) []Finding {
	var all []Finding
	for _, loss := range h.Losses {
		if loss.Restored <= until {
			all = merge(all, early(h, loss.Stopped))
		}
	}
	return merge(all, last())
}

// merge adds findings of another part of the same history. What both parts have is there once.
func merge(before, after []Finding) []Finding {
	for i := range after {
		f := &after[i]
		at := slices.IndexFunc(before, func(b Finding) bool { return b.Name == f.Name })
		if at < 0 {
			continue
		}
		f.Looked, f.Excused = max(f.Looked, before[at].Looked), max(f.Excused, before[at].Excused)
		both := 0
		for _, text := range before[at].Violations {
			if slices.Contains(f.Violations, text) {
				both++
			} else if len(f.Violations) < violationsPerCheck {
				f.Violations = append(f.Violations, text)
			}
		}
		f.Count += before[at].Count - both
	}
	return after
}

// lost holds what was seen of a history in its lost time.
type lost struct {
	// gone are the ids of things that were made then, which may not be there any more.
	gone map[string]bool
	// deliveries are the events that came.
	deliveries []history.Delivery
}

// listed are readings that name things whose making was not answered.
var listed = is(history.DraftList, history.ResponseList)

// losing returns a history in which what was under way in lost time has no answer, and what was lost with that.
func losing(h *history.History) (*history.History, *lost) {
	l := &lost{gone: make(map[string]bool)}
	if len(h.Losses) == 0 {
		return h, l
	}
	k := *h
	k.Attempts, k.Deliveries, k.Acks, k.Faults = slices.Clone(h.Attempts), nil, nil, slices.Clone(h.Faults)
	for _, loss := range h.Losses {
		k.Faults = append(k.Faults, history.Fault{
			Name: "what a restore may have undone", Start: loss.Begun, Lifted: loss.Restored, End: loss.Restored, Failover: true,
		})
	}
	made := make(map[[2]string]string) // the orders that requests have made, by agent and id
	for _, loss := range h.Losses {
		l.take(k.Attempts, loss, made)
	}
	for i := range k.Attempts {
		if a := &k.Attempts[i]; makesOrder(a.Operation) && a.Subject == "" {
			a.Subject = made[[2]string{a.Agent, a.ID}]
		}
	}
	for _, d := range h.Deliveries {
		if isLost(h, d.At, d.At) {
			l.deliveries = append(l.deliveries, d)
		} else {
			k.Deliveries = append(k.Deliveries, d)
		}
	}
	keep(&k.Acks, h.Acks, func(a *history.Ack) bool { return !isLost(h, a.Answered, a.Answered) })
	return &k, l
}

// isLost says that a part of a span is in lost time.
func isLost(h *history.History, start, end time.Duration) bool {
	return slices.ContainsFunc(h.Losses, func(loss history.Loss) bool { return end > loss.Begun && start < loss.Restored })
}

// take takes the answers of one lost time away, and notes what the requests may have made.
func (l *lost) take(all []history.Attempt, loss history.Loss, made map[[2]string]string) {
	named, before := make(map[string]bool), make(map[string]bool)
	for i := range all {
		a := &all[i]
		switch {
		case a.Lost || !a.Succeeded() || !a.Changes && !listed(a):
		case a.End <= loss.Begun:
			before[a.Subject], before[a.Of] = true, true
			namedIn(a.Body, before)
		case a.Start < loss.Restored:
			namedIn(a.Body, named)
			if makesOrder(a.Operation) && a.Changed == "" {
				made[[2]string{a.Agent, a.ID}] = effectOf(a).Order.ID
			}
		}
		if a.End > loss.Begun && a.Start < loss.Restored {
			a.Lost, a.Status, a.Code, a.Body, a.Replayed, a.RetryAfter = true, history.Unanswered, "", nil, false, false
			a.Failure = "a restore may have undone it"
		}
	}
	for id := range named {
		if !before[id] {
			l.gone[id] = true
		}
	}
}

// namedIn adds the ids in an answer: the values of its members "id" and of those that end with "_id".
func namedIn(body json.RawMessage, into map[string]bool) {
	var value any
	if json.Unmarshal(body, &value) == nil {
		namedBy(value, into)
	}
}

func namedBy(value any, into map[string]bool) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			namedBy(element, into)
		}
	case map[string]any:
		for name, member := range value {
			if id, isText := member.(string); isText && id != "" && (name == "id" || strings.HasSuffix(name, "_id")) {
				into[id] = true
			}
			namedBy(member, into)
		}
	}
}

// isGone says that an attempt was about something that a restore may have undone.
func (r *run) isGone(a *history.Attempt) bool {
	return r.lost.gone[a.Subject] || r.lost.gone[a.Of] || r.lost.gone[sent(a).ResponseID]
}

// epochMayHaveEnded says that a restore may have ended the epoch of the key log that was read.
func (r *run) epochMayHaveEnded(a *history.Attempt) bool {
	return slices.ContainsFunc(r.Losses, func(loss history.Loss) bool { return loss.Restored < a.End })
}

// isUndone says that an attempt at a request may have been undone, which asks for no further one.
func (q *request) isUndone() bool {
	return slices.ContainsFunc(q.attempts, func(a *history.Attempt) bool { return a.Lost })
}

// received adds the events that came in lost time: they need not come again.
func (l *lost) received(add func(e *event)) {
	for i := range l.deliveries {
		e := &event{Delivery: &l.deliveries[i]}
		if json.Unmarshal(e.Payload, &e.payload) == nil {
			add(e)
		}
	}
}
