package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	"stoa/cmd/prove/history"
)

// The kinds of events that are judged (§6).
const (
	messageCreated   = "message.created"
	orderChanged     = "order.changed"
	contactRequested = "contact.requested"
	contactAccepted  = "contact.accepted"
	contactBlocked   = "contact.blocked"
	recommendations  = "profile.recommendations" // comes again whenever they change
)

// payload holds the judged members of events' payloads.
type payload struct {
	MessageID       string `json:"message_id"`
	ClientMessageID string `json:"client_message_id"`
	SenderID        string `json:"sender_id"`
	OrderID         string `json:"order_id"`
	Status          string `json:"status"`
	Version         int64  `json:"version"`
	BotID           string `json:"bot_id"`

	later
}

// content identifies the content of an event; no two events of an agent have the same.
type content struct {
	kind, about string
	version     int64
}

func (c content) String() string {
	text := c.kind + " " + c.about
	if c.version > 0 {
		text += fmt.Sprintf(" version %d", c.version)
	}
	return text
}

// event is a delivery that could be read.
type event struct {
	*history.Delivery
	payload
}

func (e *event) content() content {
	switch e.Kind {
	case messageCreated:
		return content{kind: e.Kind, about: e.MessageID}
	case orderChanged:
		return content{e.Kind, e.OrderID, e.Version}
	default:
		if kind, isLater := laterKinds[e.Kind]; isLater {
			return content{kind: e.Kind, about: kind.about(&e.payload)}
		}
		return content{kind: e.Kind, about: e.BotID}
	}
}

// events reads the deliveries of every agent, each connection's in the order in which they came.
func (r *run) events(f *Finding) map[string][]*event {
	events := make(map[string][]*event)
	for i := range r.Deliveries {
		e := &event{Delivery: &r.Deliveries[i]}
		if err := json.Unmarshal(e.Payload, &e.payload); err != nil {
			f.violatedf("event %s of %s: unreadable payload: %v", e.EventID, e.Agent, err)
			continue
		}
		events[e.Agent] = append(events[e.Agent], e)
	}
	return events
}

func checkReceived(r *run, f *Finding) {
	received := make(map[string]map[content]bool)
	for agent, events := range r.events(f) {
		received[agent] = make(map[content]bool)
		for _, e := range events {
			received[agent][e.content()] = true
		}
	}
	r.lost.received(func(e *event) {
		if received[e.Agent] == nil {
			received[e.Agent] = make(map[content]bool)
		}
		received[e.Agent][e.content()] = true
	})
	asked := make(map[string]map[content]bool)
	expect := func(agent string, c content, why string) {
		if asked[agent] == nil {
			asked[agent] = make(map[content]bool)
		}
		if asked[agent][c] {
			return
		}
		asked[agent][c] = true
		f.Looked++
		if !received[agent][c] {
			f.violatedf("%s never received %s: %s", agent, c, why)
		}
	}
	for i := range r.Sent {
		if s := r.sendings[[2]string{r.Sent[i].Sender, r.Sent[i].ClientMessageID}]; s.success {
			expect(s.Recipient, content{kind: messageCreated, about: s.id}, "the message was answered at "+clock(s.answered))
		}
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if !a.Succeeded() || a.Operation != history.ContactRequest && a.Operation != history.ContactAccept {
			continue
		}
		body, ok := decode[struct {
			Contact struct {
				RequestedByMe bool `json:"requested_by_me"`
				Bot           struct{ ID string }
			}
		}](f, a)
		other := r.handles[body.Contact.Bot.ID]
		switch {
		case !ok:
		case a.Operation == history.ContactAccept:
			expect(other, content{kind: contactAccepted, about: r.ids[a.Agent]}, describe(a))
		case body.Contact.RequestedByMe: // else the other one had asked before
			expect(other, content{kind: contactRequested, about: r.ids[a.Agent]}, describe(a))
		}
	}
	r.expectLater(expect)
	for _, id := range sorted(r.orders) {
		for _, party := range []string{r.orders[id].Order.CustomerID, r.orders[id].Order.ContractorID} {
			for v := int64(1); v <= r.orders[id].Order.Version; v++ {
				expect(r.handles[party], content{orderChanged, id, v}, fmt.Sprintf("the order has version %d", r.orders[id].Order.Version))
			}
		}
	}
}

func checkAcked(r *run, f *Finding) {
	acked := make(map[[2]string]time.Duration) // by agent and event, when an ack was answered first
	for _, ack := range r.Acks {
		key := [2]string{ack.Agent, ack.EventID}
		if at, known := acked[key]; !known || ack.Answered < at {
			acked[key] = ack.Answered
		}
	}
	f.Looked = len(acked)
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if at, known := acked[[2]string{d.Agent, d.EventID}]; known && d.ConnectedAt > at {
			f.violatedf("event %s of %s came at %s on connection %d, opened at %s, after its ack was answered at %s",
				d.EventID, d.Agent, clock(d.At), d.Connection, clock(d.ConnectedAt), clock(at))
		}
	}
}

func checkContents(r *run, f *Finding) {
	all := r.events(f)
	for _, agent := range sorted(all) {
		ids, contents := make(map[content]string), make(map[string]content)
		for _, e := range all[agent] {
			f.Looked++
			c := e.content()
			if reason := cmp.Or(r.unfounded(e), r.unfoundedVersion(e)); reason != "" {
				f.violatedf("event %s of %s, %s: %s", e.EventID, agent, c, reason)
			}
			if other, known := contents[e.EventID]; known && other != c {
				f.violatedf("event %s of %s is %s, and also %s", e.EventID, agent, c, other)
			}
			if other, known := ids[c]; known && other != e.EventID && e.Kind != recommendations {
				f.violatedf("%s received %s twice, as %s and %s", agent, c, other, e.EventID)
			}
			contents[e.EventID], ids[c] = c, e.EventID
		}
	}
}

// unfounded says why an event should not have reached its agent, or nothing.
func (r *run) unfounded(e *event) string {
	switch e.Kind {
	case messageCreated:
		message := r.sendings[[2]string{r.handles[e.SenderID], e.ClientMessageID}]
		if message == nil || message.Recipient != e.Agent {
			return "no message to this agent"
		}
	case orderChanged:
		o := r.orders[e.OrderID]
		switch {
		case r.Final.Orders == nil: // they are not known yet
		case o == nil || o.Order.CustomerID != r.ids[e.Agent] && o.Order.ContractorID != r.ids[e.Agent]:
			return "no order of this agent"
		case e.Version < 1 || e.Version > int64(len(o.Events)):
			return fmt.Sprintf("the order ends with version %d", len(o.Events))
		case o.Events[e.Version-1].State != e.Status:
			return fmt.Sprintf("the event says %s, the order %s", e.Status, o.Events[e.Version-1].State)
		}
	case contactRequested, contactAccepted, contactBlocked:
		if r.handles[e.BotID] == "" || r.handles[e.BotID] == e.Agent {
			return "from no other agent of the run"
		}
	case recommendations:
		if e.BotID != r.ids[e.Agent] {
			return "about another agent"
		}
	default:
		kind, isLater := laterKinds[e.Kind]
		if !isLater {
			return "an unknown kind"
		}
		return kind.unfounded(r, e)
	}
	return ""
}
