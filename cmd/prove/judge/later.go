package judge

import (
	"fmt"
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// This file judges what version 2 of the events has (§6).

// latestEvents is the version of the events that has all of them.
const latestEvents = 2

// The kinds that an earlier version leaves out, besides profile.recommendations.
const (
	orderRated       = "order.rated"
	orderDraft       = "order.draft"
	orderDraftReply  = "order.draft_reply"
	orderReceipt     = "order.receipt"
	exportReady      = "export.ready"
	feedbackAnswered = "feedback.answered"
	taskResponded    = "task.responded"
	taskSelected     = "task.selected"
	taskDeclined     = "task.declined"
)

// later holds the members of payloads that these kinds have, and those that order.changed has from version 2 on.
type later struct {
	TaskID     string `json:"task_id"`
	ResponseID string `json:"response_id"`
	DraftID    string `json:"draft_id"`
	Verdict    string `json:"verdict"`
	RatingID   string `json:"rating_id"`
	Stars      int    `json:"stars"`
	ReceiptID  string `json:"receipt_id"`
	ExportID   string `json:"export_id"`
	FeedbackID string `json:"feedback_id"`
	Action     string `json:"action"`
	ActorID    string `json:"actor_id"`
}

// laterKind is one of these kinds.
type laterKind struct {
	// about returns the id of the thing that an event is about: an agent gets one about each.
	about func(p *payload) string
	// unfounded says why an event should not have reached its agent, or nothing.
	unfounded func(r *run, e *event) string
}

var laterKinds = map[string]laterKind{
	taskResponded:    {func(p *payload) string { return p.ResponseID }, (*run).unfoundedResponse},
	taskSelected:     {func(p *payload) string { return p.ResponseID }, (*run).unfoundedSelection},
	taskDeclined:     {func(p *payload) string { return p.ResponseID }, (*run).unfoundedDecline},
	orderDraft:       {func(p *payload) string { return p.DraftID }, (*run).unfoundedDraft},
	orderDraftReply:  {func(p *payload) string { return p.DraftID }, (*run).unfoundedReply},
	orderRated:       {func(p *payload) string { return p.RatingID }, (*run).unfoundedRating},
	orderReceipt:     {func(p *payload) string { return p.ReceiptID }, (*run).unfoundedReceipt},
	exportReady:      {func(p *payload) string { return p.ExportID }, (*run).unfoundedExport},
	feedbackAnswered: {func(p *payload) string { return p.FeedbackID }, (*run).unfoundedAnswer},
}

// announced holds the requests that these events are about, by the id of the thing that was made.
type announced struct {
	responses, drafts, ratings, reports map[string]*history.Attempt
	// answered are the attempts of operators to answer feedback, by its id.
	answered map[string]*history.Attempt
}

// newAnnounced finds what requests have made.
func newAnnounced(r *run) *announced {
	n := &announced{
		responses: make(map[string]*history.Attempt), drafts: make(map[string]*history.Attempt), ratings: make(map[string]*history.Attempt),
		reports: make(map[string]*history.Attempt), answered: make(map[string]*history.Attempt),
	}
	note := func(to map[string]*history.Attempt, id string, a *history.Attempt) {
		if before := to[id]; id != "" && (before == nil || a.End < before.End) {
			to[id] = a
		}
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Operation == history.FeedbackAnswer && mayHaveActed(a) {
			note(n.answered, a.Subject, a)
		}
		if !a.Succeeded() || !is(history.TaskRespond, history.DraftSend, history.OrderRate, history.Report)(a) {
			continue
		}
		var made struct {
			Response, Draft, Rating, Feedback struct{ ID string }
		}
		if !into(a, &made) {
			continue
		}
		note(n.responses, made.Response.ID, a)
		note(n.drafts, made.Draft.ID, a)
		note(n.ratings, made.Rating.ID, a)
		note(n.reports, made.Feedback.ID, a)
	}
	return n
}

// mayBe says that a request whose answer is not known may have made the thing that an event is about.
func (r *run) mayBe(operation, agent, subject string, at time.Duration) bool {
	return slices.ContainsFunc(r.Attempts, func(a history.Attempt) bool {
		return a.Operation == operation && unknown(&a) && a.Start < at && (agent == "" || a.Agent == agent) && (subject == "" || a.Subject == subject)
	})
}

func (r *run) unfoundedResponse(e *event) string {
	made, author := r.announced.responses[e.ResponseID], r.handles[e.BotID]
	switch {
	case r.customers[e.TaskID] != e.Agent && r.customers[e.TaskID] != "":
		return "the task is another agent's"
	case made != nil && (made.Agent != author || made.Subject != e.TaskID):
		return "the response is " + describe(made)
	case made == nil && !r.mayBe(history.TaskRespond, author, e.TaskID, e.At):
		return "nobody responded"
	}
	return ""
}

// notAuthor returns why an event about a response is not its author's, or nothing.
func (r *run) notAuthor(e *event) string {
	made := r.announced.responses[e.ResponseID]
	switch {
	case made != nil && (made.Agent != e.Agent || made.Subject != e.TaskID):
		return "the response is " + describe(made)
	case made == nil && !r.mayBe(history.TaskRespond, e.Agent, e.TaskID, e.At):
		return "the agent never responded"
	}
	return ""
}

func (r *run) unfoundedSelection(e *event) string {
	if why := r.notAuthor(e); why != "" {
		return why
	}
	selections := slices.DeleteFunc(slices.Clone(r.product.endings[e.TaskID]), func(a *history.Attempt) bool {
		return a.Operation != history.TaskSelect || !mayHaveActed(a) || sent(a).ResponseID != e.ResponseID || a.Start > e.At
	})
	if len(selections) == 0 {
		return "nobody selected the response"
	}
	for _, a := range selections {
		if id := effectOf(a).Order.ID; a.Succeeded() && id != e.OrderID {
			return fmt.Sprintf("the event names the order %s, and the selection made %s", e.OrderID, id)
		}
	}
	return ""
}

func (r *run) unfoundedDecline(e *event) string {
	if why := r.notAuthor(e); why != "" {
		return why
	}
	ended := slices.ContainsFunc(r.product.endings[e.TaskID], func(a *history.Attempt) bool {
		return mayHaveActed(a) && a.Start < e.At && (a.Operation == history.TaskClose || sent(a).ResponseID != e.ResponseID)
	})
	if !ended && !r.mayBeBlocked(e.Agent, r.customers[e.TaskID], &history.Attempt{Start: e.At, End: e.At}) {
		return "the task was not ended, and neither of the two has blocked the other"
	}
	return ""
}

// notSide returns why an event about an order is not for its agent, or nothing if that is the side or the order is not known yet.
func (r *run) notSide(e *event, side func(o *orderAnswer) string) string {
	switch o := r.orders[e.OrderID]; {
	case r.Final.Orders == nil: // they are not known yet
	case o == nil:
		return "no order of this agent"
	case r.handles[side(o)] != e.Agent:
		return "the order is for " + r.handles[side(o)]
	}
	return ""
}

func customerOf(o *orderAnswer) string   { return o.Order.CustomerID }
func contractorOf(o *orderAnswer) string { return o.Order.ContractorID }

func (r *run) unfoundedDraft(e *event) string {
	made := r.announced.drafts[e.DraftID]
	switch {
	case made != nil && made.Subject != e.OrderID:
		return "the draft is " + describe(made)
	case made == nil && !r.mayBe(history.DraftSend, "", e.OrderID, e.At):
		return "nobody sent the draft"
	}
	return r.notSide(e, customerOf)
}

func (r *run) unfoundedReply(e *event) string {
	replies := 0
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Operation != history.DraftReply || a.Of != e.DraftID || a.Subject != e.OrderID || !mayHaveActed(a) || a.Start > e.At {
			continue
		}
		replies++
		var body struct {
			Draft struct{ Reply struct{ Verdict string } }
		}
		if a.Succeeded() && into(a, &body) && body.Draft.Reply.Verdict != e.Verdict {
			return fmt.Sprintf("the event says %q, and the reply %q", e.Verdict, body.Draft.Reply.Verdict)
		}
	}
	if replies == 0 {
		return "nobody replied"
	}
	return r.notSide(e, contractorOf)
}

func (r *run) unfoundedRating(e *event) string {
	made := r.announced.ratings[e.RatingID]
	if made == nil {
		if !r.mayBe(history.OrderRate, "", e.OrderID, e.At) {
			return "nobody rated the order"
		}
		return r.notSide(e, func(o *orderAnswer) string { return r.sideOf(o, e.Agent) })
	}
	var body struct{ Rating struct{ Stars int } }
	switch {
	case made.Subject != e.OrderID || made.Agent == e.Agent:
		return "the rating is " + describe(made)
	case into(made, &body) && body.Rating.Stars != e.Stars:
		return fmt.Sprintf("the event says %d stars, and the rating has %d", e.Stars, body.Rating.Stars)
	}
	return r.notSide(e, func(o *orderAnswer) string { return r.sideOf(o, e.Agent) })
}

// sideOf returns the id of an agent if it takes part in an order, else that of the customer.
func (r *run) sideOf(o *orderAnswer, agent string) string {
	if o.Order.ContractorID == r.ids[agent] {
		return o.Order.ContractorID
	}
	return o.Order.CustomerID
}

func (r *run) unfoundedReceipt(e *event) string {
	if !r.mayBeClosed(e.OrderID, e.At) {
		return "the order was not closed"
	}
	var file struct {
		Receipt struct{ ID string }
	}
	if raw, read := r.Final.Receipts[e.Agent+"/"+e.OrderID]; read && into(&history.Attempt{Body: raw}, &file) && file.Receipt.ID != e.ReceiptID {
		return "the receipt is " + file.Receipt.ID
	}
	return r.notSide(e, func(o *orderAnswer) string { return r.sideOf(o, e.Agent) })
}

func (r *run) unfoundedExport(e *event) string {
	if !slices.ContainsFunc(r.Attempts, func(a history.Attempt) bool {
		return a.Operation == history.ExportCreate && a.Agent == e.Agent && a.Start < e.At
	}) {
		return "the agent asked for no archive"
	}
	return ""
}

func (r *run) unfoundedAnswer(e *event) string {
	switch made, answered := r.announced.reports[e.FeedbackID], r.announced.answered[e.FeedbackID]; {
	case answered == nil || answered.Start > e.At:
		return "no operator answered it"
	case made != nil && made.Agent != e.Agent:
		return "the feedback is " + describe(made)
	}
	return ""
}

// unfoundedVersion says why an event should not have come to who asked for that version of the events, or what it lacks there.
func (r *run) unfoundedVersion(e *event) string {
	_, isLater := laterKinds[e.Kind]
	changed := e.Kind == orderChanged
	switch {
	case e.Asked == 0: // it was not recorded
	case e.Asked < latestEvents && (isLater || e.Kind == recommendations):
		return "an earlier version of the events does not have it"
	case changed && e.Asked < latestEvents && (e.Action != "" || e.ActorID != ""):
		return "an earlier version of the events does not say who did what"
	case changed && e.Asked >= latestEvents:
		return r.unfoundedAct(e)
	}
	return ""
}

// unfoundedAct compares who did what with the order's own event.
func (r *run) unfoundedAct(e *event) string {
	o := r.orders[e.OrderID]
	if o == nil || e.Version < 1 || e.Version > int64(len(o.Events)) {
		return "" // unfounded reports it
	}
	if told := o.Events[e.Version-1]; told.Action != e.Action || told.ParticipantID != e.ActorID {
		return fmt.Sprintf("the event says %s by %s, the order %s by %s", e.Action, e.ActorID, told.Action, told.ParticipantID)
	}
	return ""
}

// expectLater calls expect with each event of these kinds that must have been received.
func (r *run) expectLater(expect func(agent string, c content, why string)) {
	for _, id := range sorted(r.announced.responses) {
		made := r.announced.responses[id]
		if customer := r.customers[made.Subject]; customer != "" {
			expect(customer, content{kind: taskResponded, about: id}, describe(made))
		}
		r.expectEnd(id, made, expect)
	}
	for _, id := range sorted(r.announced.drafts) {
		if o := r.orders[r.announced.drafts[id].Subject]; o != nil {
			expect(r.handles[o.Order.CustomerID], content{kind: orderDraft, about: id}, describe(r.announced.drafts[id]))
		}
	}
	for _, id := range sorted(r.announced.ratings) {
		made := r.announced.ratings[id]
		if o := r.orders[made.Subject]; o != nil {
			rated := o.Order.CustomerID
			if r.handles[rated] == made.Agent {
				rated = o.Order.ContractorID
			}
			expect(r.handles[rated], content{kind: orderRated, about: id}, describe(made))
		}
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if o := r.orders[a.Subject]; a.Operation == history.DraftReply && a.Succeeded() && o != nil {
			expect(r.handles[o.Order.ContractorID], content{kind: orderDraftReply, about: a.Of}, describe(a))
		}
	}
	for _, id := range sorted(r.announced.answered) {
		if made := r.announced.reports[id]; made != nil && r.announced.answered[id].Succeeded() {
			expect(made.Agent, content{kind: feedbackAnswered, about: id}, describe(r.announced.answered[id]))
		}
	}
}

// expectEnd expects the event that the author of a response receives when its task ends.
func (r *run) expectEnd(id string, made *history.Attempt, expect func(agent string, c content, why string)) {
	if len(r.product.withdrawals[id]) > 0 {
		return // it may have been withdrawn
	}
	for _, end := range r.product.endings[made.Subject] {
		switch {
		case !end.Succeeded():
		case end.Operation == history.TaskSelect && sent(end).ResponseID == id:
			expect(made.Agent, content{kind: taskSelected, about: id}, describe(end))
		default:
			expect(made.Agent, content{kind: taskDeclined, about: id}, describe(end))
		}
	}
}
