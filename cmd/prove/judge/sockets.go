package judge

import (
	"strconv"
	"time"

	"stoa/cmd/prove/history"
)

// dueAfter is the moment by which what began and was answered at some time must have had its effect: some patience after the answer, or
// after the last of the faults that may have met it or its effect by then. A machine without time puts it off by as long as it had none.
func (r *run) dueAfter(begun, answered, patience time.Duration) time.Duration {
	due := answered + patience
	for _, fault := range r.byStart {
		switch {
		case fault.Mail || fault.Start > due || fault.End+aftermath < begun:
		case fault.Name == history.MachineStarved:
			due += fault.End + aftermath - fault.Start
		default:
			due = max(due, fault.End+patience)
		}
	}
	return due
}

// checkSockets looks for events that never came on a socket that was open from before the answer to their cause until they were long
// due, if no ack may have taken them: every connection of an agent gets each event (§6), also one that became visible late.
func checkSockets(r *run, f *Finding) {
	came := make(map[int]map[content]bool) // by connection
	for _, events := range r.events(f) {
		for _, e := range events {
			if came[e.Connection] == nil {
				came[e.Connection] = make(map[content]bool)
			}
			came[e.Connection][e.content()] = true
		}
	}
	acked, open, concerned := r.ackedContents(f), r.openSockets(), r.concerned()
	for about, c := range r.causes() {
		due := r.dueAfter(c.start, c.answered, latest)
		for _, agent := range concerned[about] {
			at, known := acked[agent][about]
			taken := known && at < due
			for _, socket := range open[agent] {
				if socket.Start > c.answered || socket.End < c.answered+latest {
					continue
				}
				if socket.End < due {
					f.Excused++
					continue
				}
				f.Looked++
				if number, _ := strconv.Atoi(socket.Of); !came[number][about] && !taken {
					f.violatedf("%s never came on connection %s of %s, which was open from %s to %s; its cause was answered at %s",
						about, socket.Of, agent, clock(socket.Start), clock(socket.End), clock(c.answered))
				}
			}
		}
	}
}

// openSockets are the sockets of the agents.
func (r *run) openSockets() map[string][]*history.Attempt {
	open := make(map[string][]*history.Attempt)
	for i := range r.Attempts {
		if a := &r.Attempts[i]; a.Operation == history.EventSocket && !unknown(a) {
			open[a.Agent] = append(open[a.Agent], a)
		}
	}
	return open
}

// ackedContents are the moments at which the events of an agent were acknowledged first.
func (r *run) ackedContents(f *Finding) map[string]map[content]time.Duration {
	contents := make(map[[2]string]content)
	for agent, events := range r.events(f) {
		for _, e := range events {
			contents[[2]string{agent, e.EventID}] = e.content()
		}
	}
	acked := make(map[string]map[content]time.Duration)
	for _, ack := range r.Acks {
		about, known := contents[[2]string{ack.Agent, ack.EventID}]
		if !known {
			continue
		}
		if acked[ack.Agent] == nil {
			acked[ack.Agent] = make(map[content]time.Duration)
		}
		if at, again := acked[ack.Agent][about]; !again || ack.Answered < at {
			acked[ack.Agent][about] = ack.Answered
		}
	}
	return acked
}

// concerned are the agents that get the event of a message or of a version of an order.
func (r *run) concerned() map[content][]string {
	agents := make(map[content][]string)
	for about := range r.causes() {
		if o := r.orders[about.about]; o != nil && about.kind == orderChanged {
			agents[about] = []string{r.handles[o.Order.CustomerID], r.handles[o.Order.ContractorID]}
		}
	}
	for _, s := range r.sendings {
		if s.success {
			agents[content{kind: messageCreated, about: s.id}] = []string{s.Recipient}
		}
	}
	return agents
}
