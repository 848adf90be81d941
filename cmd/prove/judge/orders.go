package judge

import (
	"fmt"
	"net/http"
	"slices"

	"stoa/cmd/prove/history"
)

// orderOf returns the id of the order that a request made or used, or nothing if it is unknown.
func (r *run) orderOf(q *request) string {
	switch {
	case besides(q.attempts[0]):
		return q.attempts[0].Subject
	case !makesOrder(q.operation()) && rules[q.operation()].to == "":
		return ""
	}
	if a := q.succeeded(); a != nil && got(a).Order.ID != "" {
		return got(a).Order.ID
	}
	id := q.attempts[0].Subject
	if makesOrder(q.operation()) && r.orders[id] == nil {
		return "" // it may never have been made
	}
	return id
}

// checkOrders searches a sequence of states of each order that explains all answers. Before the end it judges only orders whose
// offer was answered.
func checkOrders(r *run, f *Finding) {
	requests := make(map[string][]*request)
	for id, all := range r.ofOrders {
		requests[id] = slices.Clone(all)
	}
	for _, a := range r.by[history.OrderGet] {
		if settled(a) {
			requests[a.Subject] = append(requests[a.Subject], alone(a))
		}
	}
	made := make(map[string]bool)
	for _, a := range r.by[history.OrderCreate] {
		made[got(a).Order.ID] = true
	}
	for _, id := range sorted(requests) {
		o := r.orders[id]
		switch {
		case r.Final.Orders == nil && !made[id], o == nil && r.lost.gone[id]:
			continue
		case o == nil:
			f.violatedf("order %s cannot be read at the end", id)
			continue
		}
		p := parties{r.handles[o.Order.AuthorID], r.handles[o.Order.CustomerID], r.handles[o.Order.ContractorID]}
		all := requests[id]
		if r.Final.Orders != nil {
			all = append(all, alone(&history.Attempt{
				Agent: p.customer, Operation: history.OrderGet, Subject: id, Start: r.end(), End: r.end(), Status: http.StatusOK, Body: r.Final.Orders[id],
			}))
		}
		calls := callsOf(all, func(a *history.Attempt) call[*order] { return r.orderCall(p, a) })
		f.Looked += len(calls)
		linearize(f, "order "+id, new(order), sameOrder, calls)
	}
}

// orderCall is an attempt at an operation on an order, or a reading of it.
func (r *run) orderCall(p parties, a *history.Attempt) call[*order] {
	b, act := got(a), *a
	c := call[*order]{text: Describe(a), reads: a.Operation == history.OrderGet}
	if b.Order.Version > 0 {
		c.text += fmt.Sprintf(" with version %d %s", b.Order.Version, b.Order.State)
	}
	if a.Operation == history.DraftSend {
		act.Of = b.Draft.ID
	}
	isGone := a.Code == "not_found" && r.isGone(a) // a restore may have undone its subject
	c.step = func(before *order, pending bool) (bool, *order) {
		if c.reads {
			return r.shows(p, &act, b, before), before
		}
		version, after, refusals := before.act(p, &act)
		switch {
		case pending:
			return true, after
		case !act.Succeeded():
			return isGone || slices.Contains(refusals, act.Code), before
		case version == 0 || besides(&act):
			return version > 0, after
		}
		made := after.versions[version-1]
		fits := b.Order.Version == int64(version) && b.Order.State == made.state && b.Order.Outcome == made.outcome
		return fits && (act.Subject == "" || b.Order.ID == act.Subject), after
	}
	return c
}

// shows reports whether a reading shows an order.
func (r *run) shows(p parties, a *history.Attempt, got *answer, o *order) bool {
	if len(o.versions) == 0 || a.Agent != p.customer && a.Agent != p.contractor {
		return a.Code == "not_found"
	}
	fits := a.Succeeded() && got.Order.Version == int64(len(o.versions)) && got.Order.State == o.state() &&
		got.Order.Outcome == o.versions[len(o.versions)-1].outcome && len(got.Events) == len(o.versions)
	for i := 0; fits && i < len(o.versions); i++ {
		e, v := got.Events[i], o.versions[i]
		told := version{"order." + e.Action, r.handles[e.ParticipantID], v.id, e.State, v.outcome}
		fits = told == v && e.Version == int64(i+1)
	}
	return fits
}

// anything fits every attempt.
func anything(*history.Attempt) bool { return true }

func checkTasks(r *run, f *Finding) {
	checkEndings(r, f)
	checkTaskAnswers(r, f)
	checkResponses(r, f)
}

// checkEndings looks for tasks that ended twice, and for responses that were both selected and withdrawn.
func checkEndings(r *run, f *Finding) {
	winners, chosen := make(map[string]*history.Attempt), make(map[string]*history.Attempt) // by task, and by response
	for _, a := range r.of(history.TaskSelect, history.TaskClose) {
		f.Looked++
		switch winner := winners[taskOf(a)]; {
		case !a.Succeeded() || a.Changed != "":
		case winner == nil:
			winners[taskOf(a)], chosen[sent(a).ResponseID] = a, a
		case winner.Operation != a.Operation || winner.ID != a.ID:
			f.violatedf("task %s ended twice: %s, and %s", taskOf(a), Describe(winner), Describe(a))
		}
	}
	for _, a := range r.answered(history.ResponseWithdraw) {
		if winner := chosen[a.Subject]; winner != nil {
			f.violatedf("%s, although %s", Describe(a), Describe(winner))
		}
	}
}

// stateOf reports whether a task was certainly over when an attempt began, and whether it may have been over before the attempt ended.
func (r *run) stateOf(a *history.Attempt) (isOver, mayBeOver bool) {
	endings := r.endings(taskOf(a))
	return did(endings, a.Start, anything), may(endings, a.End, anything)
}

var checkTaskAnswers = each(func(r *run, a *history.Attempt) string {
	isOver, mayBeOver := r.stateOf(a)
	switch state := got(a).Task.State; {
	case !a.Succeeded(), a.Operation == history.TaskRespond && a.Status != http.StatusCreated: // a repeat shows its present state
	case a.Operation == history.TaskGet:
		if isOver && state == open || !mayBeOver && state != open {
			return " shows it " + state
		}
	case isOver:
		return ", but the task was over"
	}
	return ""
}, history.ResponseUpdate, history.ResponseWithdraw, history.TaskRespond, history.TaskGet)

// checkResponses compares the states that a task's customer sees with the attempts to end it: a selection declines the others,
// and so does the end of the task, or a block.
func checkResponses(r *run, f *Finding) {
	for _, a := range r.answered(history.ResponseList) {
		if r.customers[a.Subject] != a.Agent {
			continue
		}
		f.Looked++
		chosen := ""
		for _, end := range r.endings(a.Subject) {
			if end.Operation == history.TaskSelect && end.Succeeded() {
				chosen = sent(end).ResponseID
			}
		}
		isOver, mayBeOver := r.stateOf(a)
		for _, response := range got(a).Responses {
			expected := "declined"
			if response.ID == chosen {
				expected = selected
			}
			made := r.made[response.ID]
			isBlocked := response.State == "declined" && made != nil && r.mayBeBlocked(made.Agent, a.Agent, a.End)
			if !isBlocked && (isOver && response.State != expected || !mayBeOver && response.State != open) || response.State == withdrawn {
				f.violatedf("%s shows response %s as %s", Describe(a), response.ID, response.State)
			}
		}
	}
}
