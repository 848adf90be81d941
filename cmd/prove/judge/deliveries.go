package judge

import (
	"cmp"
	"net/http"
	"slices"
	"time"
)

// takenWithin is how long after its receiver has taken it an event may still come again: the sender has to note it.
const takenWithin = 10 * time.Second

const (
	// overtakenWithin is by how much later a cause an event may overtake: events come to a webhook usually in order, and what one look of
	// the queue misses the next ones find.
	overtakenWithin = 5 * time.Second
	// overtakenOneOf is of how many events at most one may be overtaken, turnsFrom how many there must be before that is judged.
	overtakenOneOf, turnsFrom = 4, 20
)

// checkDeliveries judges what receivers of webhooks saw, and whether events came to them mostly in order.
func checkDeliveries(r *run, f *Finding) {
	if turns, overtaken := r.judgeDeliveries(f); turns >= turnsFrom && overtaken*overtakenOneOf > turns {
		f.violatedf("%d of %d events came to a webhook after ones that were caused later, and usually none does", overtaken, turns)
	}
}

func checkDeliveriesSoFar(r *run, f *Finding) { r.judgeDeliveries(f) }

// judgeDeliveries judges what receivers of webhooks saw (§4.12): what they object to, attempts at the same time, events that are overtaken
// by much at their first attempt, and events that come again after they were taken. It returns how many events have a known cause, and
// how many of them were overtaken at all.
func (r *run) judgeDeliveries(f *Finding) (turns, overtaken int) {
	hooks := make(map[string][]*event)
	taken := make(map[string]time.Duration) // when a receiver has taken an event first
	all := r.events(f)
	for _, agent := range sorted(all) {
		for _, e := range all[agent] {
			if !e.Webhook {
				continue
			}
			f.Looked++
			hooks[e.Hook] = append(hooks[e.Hook], e)
			if e.Wrong != "" {
				f.violatedf("event %s came to the webhook %s of %s at %s, and %s", e.EventID, e.Hook, agent, clock(e.At), e.Wrong)
			}
			if at, known := taken[e.EventID]; e.Answer < http.StatusMultipleChoices && (!known || e.At < at) {
				taken[e.EventID] = e.At
			}
		}
	}
	for _, hook := range sorted(hooks) {
		slices.SortStableFunc(hooks[hook], func(a, b *event) int { return cmp.Compare(a.At, b.At) })
		of, late := r.judgeTurns(hook, hooks[hook], f)
		turns, overtaken = turns+of, overtaken+late
	}
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		begun := d.ConnectedAt
		if d.Webhook {
			begun = d.At
		}
		at, known := taken[d.EventID]
		if known && begun > at+takenWithin && !r.disturbed(at, begun) {
			f.violatedf("event %s of %s came at %s, and its receiver had taken it at %s", d.EventID, d.Agent, clock(d.At), clock(at))
		}
	}
	return turns, overtaken
}

// judgeTurns judges the order of the deliveries to one webhook.
func (r *run) judgeTurns(hook string, events []*event, f *Finding) (turns, overtaken int) {
	causes := r.causes()
	seen := make(map[string]bool)
	var before, latest *event // the attempt before, and the event that was caused last of those that have come
	for _, e := range events {
		if before != nil && e.At < before.Answered && !r.disturbed(before.At, e.At) {
			f.violatedf("event %s came to the webhook %s at %s, while %s had no answer until %s", e.EventID, hook, clock(e.At), before.EventID, clock(before.Answered))
		}
		if before == nil || e.Answered > before.Answered {
			before = e
		}
		c, known := causes[e.content()]
		if !known || seen[e.EventID] {
			continue
		}
		seen[e.EventID] = true
		if latest == nil {
			latest = e
			continue
		}
		if r.disturbed(c.start, e.At) {
			f.Excused++
			continue
		}
		turns++
		later := causes[latest.content()]
		if c.answered < later.start {
			overtaken++
		}
		if c.answered+overtakenWithin < later.start {
			f.violatedf("event %s came to the webhook %s at %s, after %s, which was caused later", e.EventID, hook, clock(e.At), latest.EventID)
		}
		if c.start > later.start {
			latest = e
		}
	}
	return turns, overtaken
}
