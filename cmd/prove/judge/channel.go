package judge

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"stoa/cmd/prove/history"
)

const (
	// latest is how long an event may take to an open socket while there is no fault.
	latest = 10 * time.Second
	// wakeFactor is by how much longer the way to another server may be than that within one, wakeSlack by how much all events together may
	// be later than that, and wakeFrom how many events of each kind there must be.
	wakeFactor, wakeFrom = 5, 15
	wakeSlack            = 10 * time.Second
	// againWithin is the time within which a failed webhook delivery is tried again: 5 s, plus time for a busy machine. claimLasts is
	// how long a webhook waits besides, if a fault has killed the server that was delivering to it.
	// takenWithin is how long an accepted event may still come again: the sender has to record the acceptance first.
	againWithin, claimLasts, takenWithin = 45 * time.Second, time.Minute, 10 * time.Second
	// overtakenWithin is by how much later a cause an event may overtake. Events usually come to a webhook in order; the next
	// looks at the queue find the events that one look misses.
	overtakenWithin = 5 * time.Second
	// At most one in overtakenOneOf events may be overtaken; this is judged from turnsFrom events on.
	overtakenOneOf, turnsFrom = 4, 20
)

// ordered returns the events of each connection, or of each webhook, in the order in which they came.
func (r *run) ordered(of func(e *event) string) map[string][]*event {
	all := make(map[string][]*event)
	for _, e := range r.events {
		if name := of(e); name != "" {
			all[name] = append(all[name], e)
		}
	}
	return all
}

func connectionOf(e *event) string { return strconv.Itoa(e.Connection) + " of " + e.Agent }

// overtaken finds each event of a series that came after an event with a later cause.
func (r *run) overtaken(events []*event, found func(e, latest *event)) {
	var latest *event
	for _, e := range events {
		c, known := r.causes[e.content]
		if !known {
			continue
		}
		if latest != nil && c.answered < r.causes[latest.content].start {
			found(e, latest)
		}
		if latest == nil || c.start > r.causes[latest.content].start {
			latest = e
		}
	}
}

// checkEventOrder judges the events of one connection: each comes once, versions ascend, and no event comes after one with a
// later cause. Events with simultaneous causes have no order.
func checkEventOrder(r *run, f *Finding) {
	connections := r.ordered(connectionOf)
	for _, name := range sorted(connections) {
		seen, versions := make(map[string]bool), make(map[string]int64)
		var once []*event
		for _, e := range connections[name] {
			f.Looked++
			switch {
			case seen[e.EventID]:
				f.violatedf("connection %s received event %s twice", name, e.EventID)
				continue
			case e.Kind == orderChanged && e.version <= versions[e.about]:
				f.violatedf("connection %s received version %d of order %s after version %d", name, e.version, e.about, versions[e.about])
			}
			seen[e.EventID] = true
			if e.Kind == orderChanged {
				versions[e.about] = e.version
			}
			once = append(once, e)
		}
		r.overtaken(once, func(e, latest *event) {
			f.violatedf("connection %s received %s after %s, which was caused later", name, e.EventID, latest.EventID)
		})
	}
}

// delays returns how long messages took from their sender's answer to a socket that was open before they were sent, at the same
// server or at another one, without messages that a fault met.
func (r *run) delays(isNear bool) (delays []time.Duration) {
	for _, e := range r.events {
		c, known := r.causes[e.content]
		if known && e.Kind == messageCreated && e.ConnectedAt <= c.start && e.Process != "" && c.sending.process != "" &&
			(e.Process == c.sending.process) == isNear && !r.disturbed(c.start, e.At) {
			delays = append(delays, max(e.At-c.answered, 0))
		}
	}
	return delays
}

// checkWakeUps compares how long messages take to open sockets of the server that took them and of other servers. Both run on the
// same machine, so its load does not matter: without a wake-up, events of other servers wait for the next search.
func checkWakeUps(r *run, f *Finding) {
	near, far := r.delays(true), r.delays(false)
	f.Looked = len(near) + len(far)
	if len(near) < wakeFrom || len(far) < wakeFrom {
		return
	}
	usually, together := wakeFactor*median(near), time.Duration(0)
	for _, delay := range far {
		together += delay - usually
	}
	if half := median(far); half > usually && together > wakeSlack {
		f.violatedf("half of %d messages took more than %s to sockets of other servers, and half of %d less than %s to those of the same",
			len(far), clock(half), len(near), clock(median(near)))
	}
}

// checkSockets looks for events that never came on a socket, although it was open from before their cause was answered until long
// after they were due, and no ack may have taken them. Every connection of an agent gets each event (§6), also a late one.
func checkSockets(r *run, f *Finding) {
	came, acked := make(map[arrival]bool), make(map[arrival]time.Duration)
	for _, e := range r.events {
		came[arrival{strconv.Itoa(e.Connection), e.content}] = true
		k := arrival{e.Agent, e.content}
		if at, known := r.acked[[2]string{e.Agent, e.EventID}]; known && (acked[k] == 0 || at < acked[k]) {
			acked[k] = at
		}
	}
	byContent := func(a, b content) int {
		return cmp.Or(cmp.Compare(a.about, b.about), cmp.Compare(a.kind, b.kind), cmp.Compare(a.version, b.version))
	}
	for _, about := range slices.SortedFunc(maps.Keys(r.causes), byContent) {
		c := r.causes[about]
		due := r.dueAfter(c.start, c.answered, latest)
		for _, socket := range r.by[history.EventSocket] {
			if unknown(socket) || !slices.Contains(c.agents, socket.Agent) || socket.Start > c.answered || socket.End < c.answered+latest {
				continue
			}
			if socket.End < due {
				f.Excused++
				continue
			}
			f.Looked++
			at, isAcked := acked[arrival{socket.Agent, about}]
			if !came[arrival{socket.Of, about}] && (!isAcked || at >= due) {
				f.violatedf("%s never came on connection %s of %s, which was open from %s to %s; its cause was answered at %s",
					about, socket.Of, socket.Agent, clock(socket.Start), clock(socket.End), clock(c.answered))
			}
		}
	}
}

func checkAcked(r *run, f *Finding) {
	f.Looked = len(r.acked)
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if at, known := r.acked[[2]string{d.Agent, d.EventID}]; known && d.ConnectedAt > at {
			f.violatedf("event %s of %s came at %s on connection %d, opened at %s, after its ack was answered at %s",
				d.EventID, d.Agent, clock(d.At), d.Connection, clock(d.ConnectedAt), clock(at))
		}
	}
}

func hookOf(e *event) string {
	if !e.Webhook {
		return ""
	}
	return "webhook " + e.Hook
}

// checkWebhooks looks for the next attempt at every event that a receiver refused.
func checkWebhooks(r *run, f *Finding) {
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if !d.Webhook {
			continue
		}
		f.Looked++
		due := r.dueAfter(d.At, d.At, againWithin)
		if due > d.At+againWithin {
			due += claimLasts
		}
		again := func(later history.Delivery) bool { return later.EventID == d.EventID && later.At > d.At }
		at, isAcked := r.acked[[2]string{d.Agent, d.EventID}]
		switch {
		case d.Answer < http.StatusMultipleChoices, isAcked && at < due:
		case r.Length < due:
			if r.Length >= d.At+againWithin {
				f.Excused++
			}
		case !slices.ContainsFunc(r.Deliveries, again) && !slices.ContainsFunc(r.lost.deliveries, again):
			f.violatedf("event %s of %s was answered %d at %s and never came again", d.EventID, d.Agent, d.Answer, clock(d.At))
		}
	}
}

// checkDeliveries judges the records of webhook receivers (§4.12): their complaints, simultaneous attempts, events that were
// overtaken by much at their first attempt, and events that come again after they were accepted.
func checkDeliveries(r *run, f *Finding) {
	taken := make(map[string]time.Duration) // when a receiver first accepted an event
	hooks := r.hooks()
	for _, hook := range sorted(hooks) {
		var before *event // the attempt whose answer came last
		for _, e := range hooks[hook] {
			f.Looked++
			if e.Wrong != "" {
				f.violatedf("event %s came to the %s of %s at %s, and %s", e.EventID, hook, e.Agent, clock(e.At), e.Wrong)
			}
			if at, known := taken[e.EventID]; e.Answer < http.StatusMultipleChoices && (!known || e.At < at) {
				taken[e.EventID] = e.At
			}
			if before != nil && e.At < before.Answered && !r.disturbed(before.At, e.At) {
				f.violatedf("event %s came to the %s at %s, while %s had no answer until %s", e.EventID, hook, clock(e.At), before.EventID, clock(before.Answered))
			}
			if before == nil || e.Answered > before.Answered {
				before = e
			}
		}
		r.turns(hooks[hook], func(e, latest *event) {
			if r.causes[e.content].answered+overtakenWithin < r.causes[latest.content].start {
				f.violatedf("event %s came to the %s at %s, after %s, which was caused later", e.EventID, hook, clock(e.At), latest.EventID)
			}
		})
	}
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		begun := d.ConnectedAt
		if d.Webhook {
			begun = d.At
		}
		if at, known := taken[d.EventID]; known && begun > at+takenWithin && !r.disturbed(at, begun) {
			f.violatedf("event %s of %s came at %s, and its receiver had taken it at %s", d.EventID, d.Agent, clock(d.At), clock(at))
		}
	}
}

// checkTurns judges whether events came to webhooks mostly in order.
func checkTurns(r *run, f *Finding) {
	turns, late := 0, 0
	for _, events := range r.hooks() {
		of, excused := r.turns(events, func(_, _ *event) { late++ })
		turns, f.Excused = turns+of, f.Excused+excused
	}
	if turns >= turnsFrom && late*overtakenOneOf > turns {
		f.violatedf("%d of %d events came to a webhook after ones that were caused later, and usually none does", late, turns)
	}
}

// hooks returns the events of the webhooks in the order in which they came.
func (r *run) hooks() map[string][]*event {
	hooks := r.ordered(hookOf)
	for _, events := range hooks {
		slices.SortStableFunc(events, func(a, b *event) int { return cmp.Compare(a.At, b.At) })
	}
	return hooks
}

// turns counts the first, undisturbed deliveries of a webhook with a known cause. It calls overtaken with each event that came
// after one with a later cause.
func (r *run) turns(events []*event, overtaken func(e, latest *event)) (turns, excused int) {
	seen := make(map[string]bool)
	var firsts []*event
	for _, e := range events {
		c, known := r.causes[e.content]
		if !known || seen[e.EventID] {
			continue
		}
		seen[e.EventID] = true
		if len(firsts) > 0 && r.disturbed(c.start, e.At) {
			excused++
			continue
		}
		firsts = append(firsts, e)
	}
	r.overtaken(firsts, overtaken)
	return max(len(firsts)-1, 0), excused
}
