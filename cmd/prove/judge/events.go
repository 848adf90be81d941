package judge

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// The kinds of events that are judged (§6).
const (
	messageCreated   = "message.created"
	orderChanged     = "order.changed"
	orderRated       = "order.rated"
	orderDraft       = "order.draft"
	orderDraftReply  = "order.draft_reply"
	orderReceipt     = "order.receipt"
	taskResponded    = "task.responded"
	taskSelected     = "task.selected"
	taskDeclined     = "task.declined"
	contactRequested = "contact.requested"
	contactAccepted  = "contact.accepted"
	contactBlocked   = "contact.blocked"
	recommendations  = "profile.recommendations" // comes again whenever they change
)

// subjects names the member of the payload that an event of a kind is about: an agent gets one about each.
var subjects = map[string]string{
	messageCreated: "message_id", orderChanged: "order_id", taskResponded: "response_id", taskSelected: "response_id",
	taskDeclined: "response_id", orderDraft: "draft_id", orderDraftReply: "draft_id", orderRated: "rating_id", orderReceipt: "receipt_id",
	contactRequested: "bot_id", contactAccepted: "bot_id", contactBlocked: "bot_id", recommendations: "bot_id",
}

// latestEvents is the version with all kinds of events; ofFirst lists the kinds of the first version.
const latestEvents = 2

var ofFirst = []string{messageCreated, orderChanged, contactRequested, contactAccepted, contactBlocked}

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

// event is a delivery that could be read, with the members of its payload as texts.
type event struct {
	*history.Delivery
	content

	members map[string]string
}

func newEvent(d *history.Delivery) (*event, error) {
	var payload map[string]any
	if err := json.Unmarshal(d.Payload, &payload); err != nil {
		return nil, err
	}
	e := &event{Delivery: d, members: make(map[string]string)}
	for name, value := range payload {
		if value != nil {
			e.members[name] = fmt.Sprint(value)
		}
	}
	e.content = content{kind: d.Kind, about: e.members[subjects[d.Kind]]}
	if version, isNumber := payload["version"].(float64); isNumber && d.Kind == orderChanged {
		e.version = int64(version)
	}
	return e, nil
}

// cause is the request that caused an event, with the agents that get it. sending is its message, or nil.
type cause struct {
	start, answered time.Duration
	agents          []string
	sending         *sending
}

// findEvents fills events, causes and acked.
func (r *run) findEvents() {
	for i := range r.Deliveries {
		if e, err := newEvent(&r.Deliveries[i]); err == nil {
			r.events = append(r.events, e)
		}
	}
	for _, ack := range r.Acks {
		key := [2]string{ack.Agent, ack.EventID}
		if at, known := r.acked[key]; !known || ack.Answered < at {
			r.acked[key] = ack.Answered
		}
	}
	r.causes = make(map[content]cause)
	for _, s := range r.messages {
		if s.success {
			r.causes[content{kind: messageCreated, about: s.id}] = cause{s.start, s.answered, []string{s.recipient}, s}
		}
	}
	for _, q := range r.requests {
		a := q.succeeded()
		if a == nil || !strings.HasPrefix(q.operation(), "order.") {
			continue
		}
		made := got(a).Order
		c := cause{start: q.begun(), answered: a.End}
		if o := r.orders[made.ID]; o != nil {
			c.agents = []string{r.handles[o.Order.CustomerID], r.handles[o.Order.ContractorID]}
		}
		if made.ID != "" {
			r.causes[content{orderChanged, made.ID, made.Version}] = c
		}
	}
}

// notice is an event that an attempt has caused, or may have caused.
type notice struct {
	// content identifies the event; about is empty if it is unknown.
	content
	// agent gets it; empty if unknown.
	agent string
	// at is the earliest time of the event. why describes the attempt. certain: the event must come.
	at      time.Duration
	why     string
	certain bool
	// says are expected members of the payload.
	says map[string]string
}

// due adds the event that an attempt has caused, or may have caused.
type due func(a *history.Attempt, certain bool, agent, kind, about string, says map[string]string)

// notices returns all events that the run has caused or may have caused.
func (r *run) notices() (all []notice) {
	add := func(a *history.Attempt, certain bool, agent, kind, about string, says map[string]string) {
		all = append(all, notice{content{kind: kind, about: about}, agent, a.Start, Describe(a), certain && about != "" && agent != "", says})
	}
	for _, id := range sorted(r.orders) {
		o := r.orders[id]
		for i, e := range o.Events {
			for _, side := range o.Order.sides() {
				all = append(all, notice{
					content{orderChanged, id, int64(i + 1)}, r.handles[side], 0, fmt.Sprintf("the order has version %d", o.Order.Version), true,
					map[string]string{"status": e.State, "action": e.Action, "actor_id": e.ParticipantID},
				})
			}
		}
	}
	for _, a := range r.of(history.MessageSend, history.ContactRequest, history.ContactAccept, history.DraftSend, history.DraftReply,
		history.OrderRate, history.OrderComplete, history.OrderApproveRefund, history.TaskRespond) {
		if mayHaveActed(a) {
			r.noticesOf(a, add)
		}
	}
	return all
}

// noticesOf adds the events of a message, a contact, a draft, a reply, a rating, a closed order or a response.
func (r *run) noticesOf(a *history.Attempt, add due) {
	b, says, customer, contractor := got(a), map[string]string{"order_id": a.Subject}, "", ""
	if o := r.orders[a.Subject]; o != nil {
		customer, contractor = r.handles[o.Order.CustomerID], r.handles[o.Order.ContractorID]
	}
	switch a.Operation {
	case history.MessageSend:
		add(a, a.Succeeded(), a.Subject, messageCreated, b.Message.ID, nil)
	case history.ContactRequest: // if it was not requested by the agent, the other one had asked before
		add(a, a.Succeeded() && b.Contact.RequestedByMe, r.handles[b.Contact.Bot.ID], contactRequested, r.ids[a.Agent], nil)
	case history.ContactAccept:
		add(a, a.Succeeded(), r.handles[b.Contact.Bot.ID], contactAccepted, r.ids[a.Agent], nil)
	case history.TaskRespond:
		r.responseNotices(a, add)
	case history.DraftSend:
		add(a, a.Succeeded(), customer, orderDraft, b.Draft.ID, says)
	case history.DraftReply:
		if a.Succeeded() {
			says["verdict"] = b.Draft.Reply.Verdict
		}
		add(a, a.Succeeded(), contractor, orderDraftReply, a.Of, says)
	case history.OrderRate:
		if a.Succeeded() {
			says["stars"] = strconv.Itoa(b.Rating.Stars)
		}
		rated := customer
		if rated == a.Agent {
			rated = contractor
		}
		add(a, a.Succeeded(), rated, orderRated, b.Rating.ID, says)
	default:
		for _, side := range []string{customer, contractor} {
			add(a, false, side, orderReceipt, r.Final.Receipts[side+"/"+a.Subject].ID, says)
		}
	}
}

// responseNotices adds the events of a response: to the customer, and to its author when the task ends or one blocks the other.
func (r *run) responseNotices(a *history.Attempt, add due) {
	response, customer, says := got(a).Response.ID, r.customers[a.Subject], map[string]string{"task_id": a.Subject}
	add(a, a.Succeeded(), customer, taskResponded, response, map[string]string{"task_id": a.Subject, "bot_id": r.ids[a.Agent]})
	ownBlock := func(b *history.Attempt) bool { return b.Agent == a.Agent && b.Subject == customer && mayHaveActed(b) }
	isKept := a.Succeeded() && !slices.ContainsFunc(r.by[history.ResponseWithdraw], about(response)) &&
		!slices.ContainsFunc(r.by[history.ContactBlock], ownBlock) // its author is not told
	for _, end := range r.endings(a.Subject) {
		chosen := sent(end).ResponseID
		switch {
		case !mayHaveActed(end):
			continue
		case end.Operation == history.TaskSelect && chosen == response && end.Succeeded():
			add(end, isKept, a.Agent, taskSelected, response, map[string]string{"task_id": a.Subject, "order_id": got(end).Order.ID})
			continue
		case end.Operation == history.TaskSelect && (chosen == response || response == "" && r.made[chosen] == nil):
			add(end, false, a.Agent, taskSelected, chosen, says)
		}
		if end.Operation != history.TaskSelect || chosen != response {
			add(end, isKept && end.Succeeded(), a.Agent, taskDeclined, response, says)
		}
	}
	pair := pairOf(a.Agent, customer)
	for _, block := range r.by[history.ContactBlock] { // a block ends the response, unless it had ended before
		if mayHaveActed(block) && pairOf(block.Agent, block.Subject) == pair {
			add(block, false, a.Agent, taskDeclined, response, says)
		}
	}
}

// arrival is an event that came to an agent, or on a connection.
type arrival struct {
	where string
	content
}

// checkReceived looks for the event of each certain notice.
func checkReceived(r *run, f *Finding) {
	received, asked := make(map[arrival]bool), make(map[arrival]bool)
	for _, e := range r.events {
		received[arrival{e.Agent, e.content}] = true
	}
	for i := range r.lost.deliveries {
		if e, err := newEvent(&r.lost.deliveries[i]); err == nil {
			received[arrival{e.Agent, e.content}] = true
		}
	}
	for _, n := range r.notices() {
		k := arrival{n.agent, n.content}
		if !n.certain || asked[k] {
			continue
		}
		asked[k] = true
		f.Looked++
		if !received[k] {
			f.violatedf("%s never received %s: %s", n.agent, n.content, n.why)
		}
	}
}

// checkContents judges the payload of each event.
func checkContents(r *run, f *Finding) {
	for i := range r.Deliveries {
		if _, err := newEvent(&r.Deliveries[i]); err != nil {
			f.violatedf("event %s of %s: unreadable payload: %v", r.Deliveries[i].EventID, r.Deliveries[i].Agent, err)
		}
	}
	due := make(map[string][]notice) // by kind
	for _, n := range r.notices() {
		due[n.kind] = append(due[n.kind], n)
	}
	ids, contents := make(map[arrival]string), make(map[[2]string]content)
	for _, e := range r.events {
		f.Looked++
		if why := r.unfounded(e, due[e.kind]); why != "" {
			f.violatedf("event %s of %s, %s: %s", e.EventID, e.Agent, e.content, why)
		}
		about, id := arrival{e.Agent, e.content}, [2]string{e.Agent, e.EventID}
		if other, known := contents[id]; known && other != e.content {
			f.violatedf("event %s of %s is %s, and also %s", e.EventID, e.Agent, e.content, other)
		}
		if other, known := ids[about]; known && other != e.EventID && e.Kind != recommendations {
			f.violatedf("%s received %s twice, as %s and %s", e.Agent, e.content, other, e.EventID)
		}
		contents[id], ids[about] = e.content, e.EventID
	}
}

// unfounded returns why an event should not have reached its agent, or nothing.
func (r *run) unfounded(e *event, due []notice) string {
	switch {
	case subjects[e.Kind] == "":
		return "an unknown kind"
	case e.Asked > 0 && e.Asked < latestEvents && !slices.Contains(ofFirst, e.Kind):
		return "an earlier version of the events does not have it"
	case e.Asked > 0 && e.Asked < latestEvents && e.Kind == orderChanged && e.members["action"]+e.members["actor_id"] != "":
		return "an earlier version of the events does not say who did what"
	}
	switch e.Kind {
	case messageCreated:
		if s := r.sending(r.handles[e.members["sender_id"]], e.members["client_message_id"]); s == nil || s.recipient != e.Agent {
			return "no message to this agent"
		}
	case contactRequested, contactAccepted, contactBlocked:
		if other := r.handles[e.about]; other == "" || other == e.Agent {
			return "from no other agent of the run"
		}
	case recommendations:
		if e.about != r.ids[e.Agent] {
			return "about another agent"
		}
	case orderChanged:
		if r.Final.Orders != nil { // otherwise they are not known yet
			return without(e, due)
		}
	default:
		return without(e, due)
	}
	return ""
}

// without returns why no notice of its kind fits an event, or nothing if one fits.
func without(e *event, due []notice) string {
	why := "nobody has done anything that it may be about"
	for _, n := range due {
		if n.about != "" && n.about != e.about || n.version != e.version || n.at > e.At {
			continue
		}
		wrong := ""
		if n.agent != "" && n.agent != e.Agent {
			wrong = "it is for " + n.agent
		}
		for _, name := range sorted(n.says) {
			isAct := name == "action" || name == "actor_id" // which an earlier version, or one that was not recorded, leaves out
			if said := e.members[name]; said != n.says[name] && (!isAct || e.Asked >= latestEvents) {
				wrong = fmt.Sprintf("it says %s %q instead of %q", name, said, n.says[name])
			}
		}
		if wrong == "" {
			return ""
		}
		if n.about != "" {
			why = wrong + ": " + n.why
		}
	}
	return why
}
