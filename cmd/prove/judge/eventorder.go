package judge

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

func checkEventOrder(r *run, f *Finding) {
	all, causes := r.events(f), r.causes()
	for _, agent := range sorted(all) {
		connections := make(map[int][]*event)
		for _, e := range all[agent] {
			connections[e.Connection] = append(connections[e.Connection], e)
			f.Looked++
		}
		for _, number := range slices.Sorted(maps.Keys(connections)) {
			checkConnection(r, f, agent, connections[number])
			checkCauses(causes, f, connections[number])
		}
	}
}

// checkConnection looks at the events of one connection: each comes once, versions ascend, and the messages of a sender come as
// they were sent.
func checkConnection(r *run, f *Finding, agent string, events []*event) {
	seen := make(map[string]bool)
	versions := make(map[string]int64)
	latest := make(map[string]*sending)
	for _, e := range events {
		where := fmt.Sprintf("connection %d of %s", e.Connection, agent)
		if seen[e.EventID] {
			f.violatedf("%s received event %s twice", where, e.EventID)
			continue
		}
		seen[e.EventID] = true
		switch e.Kind {
		case orderChanged:
			if e.Version <= versions[e.OrderID] {
				f.violatedf("%s received version %d of order %s after version %d", where, e.Version, e.OrderID, versions[e.OrderID])
			}
			versions[e.OrderID] = e.Version
		case messageCreated:
			s := r.sendings[[2]string{r.handles[e.SenderID], e.ClientMessageID}]
			if s == nil {
				continue
			}
			before := latest[s.Sender]
			if before != nil && s.success && s.answered < before.start {
				f.violatedf("%s received message %s of %s after %s, which was sent later",
					where, s.ClientMessageID, s.Sender, before.ClientMessageID)
			}
			if before == nil || s.start > before.start {
				latest[s.Sender] = s
			}
		}
	}
}

// cause is the time of the request that caused an event.
type cause struct{ start, answered time.Duration }

// causes returns those of messages and of versions of orders, if the answer of a request shows them.
func (r *run) causes() map[content]cause {
	causes := make(map[content]cause)
	for _, s := range r.sendings {
		if s.success {
			causes[content{kind: messageCreated, about: s.id}] = cause{s.start, s.answered}
		}
	}
	for _, q := range r.requests {
		a := q.succeeded()
		if a == nil || !strings.HasPrefix(q.operation(), "order.") {
			continue
		}
		if made := effectOf(a).Order; made.ID != "" {
			causes[content{orderChanged, made.ID, made.Version}] = cause{q.begun(), a.End}
		}
	}
	return causes
}

// checkCauses looks for an event that comes after another although its cause was answered before that one's began. What was caused
// at the same time has no order: it comes as it becomes visible.
func checkCauses(causes map[content]cause, f *Finding, events []*event) {
	var latest *event
	var begun time.Duration
	for _, e := range events {
		c, known := causes[e.content()]
		if !known {
			continue
		}
		if latest != nil && c.answered < begun {
			f.violatedf("connection %d of %s received %s after %s, which was caused later", e.Connection, e.Agent, e.EventID, latest.EventID)
		}
		if latest == nil || c.start > begun {
			latest, begun = e, c.start
		}
	}
}
