package judge

import (
	"encoding/json"
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// The values of registers that are judged by name.
const (
	open      = "open"
	private   = "private"
	public    = "public"
	deleted   = "deleted"
	selected  = "selected"
	withdrawn = "withdrawn"
)

// product holds the changes of profiles, posts and tasks.
type product struct {
	// openness and bios are by the agent's handle, texts and visibility by the post's id.
	openness, bios, texts, visibility map[string]register
	// authors are the handles of the posts' authors, by the post's id.
	authors map[string]string
	// endings are the attempts to select a response to a task or to close it, by the task's id; withdrawals those to withdraw a
	// response, by the response's id.
	endings, withdrawals map[string][]*history.Attempt
	// hidden holds the values that the openness of an agent may have had before it asked to be erased, by its handle.
	hidden map[string][]string
}

// setting holds the members of a profile or a post that a request sets.
type setting struct {
	Bio           *string `json:"bio"`
	Specialty     *string `json:"specialty"`
	ProfilePublic *bool   `json:"profile_public"`
	Text          *string `json:"text"`
	Visibility    *string `json:"visibility"`
	ResponseID    string  `json:"response_id"`
	// ConfirmedTotalMinor is the sum that a selection reserves.
	ConfirmedTotalMinor int64 `json:"confirmed_total_minor"`
}

func sent(a *history.Attempt) (s setting) {
	_ = json.Unmarshal(a.Sent, &s) // what was not recorded sets nothing
	return s
}

func (s setting) openness() string {
	if *s.ProfilePublic {
		return open
	}
	return closed
}

// postAnswer is {post}.
type postAnswer struct {
	Post struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	} `json:"post"`
}

func newProduct(r *run) *product {
	p := &product{
		openness: make(map[string]register), bios: make(map[string]register), texts: make(map[string]register),
		visibility: make(map[string]register), authors: make(map[string]string), endings: make(map[string][]*history.Attempt),
		withdrawals: make(map[string][]*history.Attempt), hidden: make(map[string][]string),
	}
	for _, m := range r.Members {
		p.openness[m.Handle], p.bios[m.Handle] = newRegister(open), newRegister("")
	}
	for i := range r.Attempts {
		p.note(&r.Attempts[i])
	}
	return p
}

// note adds what an attempt has changed.
func (p *product) note(a *history.Attempt) {
	s := sent(a)
	switch a.Operation {
	case history.ProfileUpdate:
		if s.Bio != nil {
			p.bios[a.Agent] = p.bios[a.Agent].add(a, *s.Bio)
		}
		if s.ProfilePublic != nil {
			p.openness[a.Agent] = p.openness[a.Agent].add(a, s.openness())
		}
	case history.ErasureRequest:
		if p.hidden[a.Agent] == nil {
			p.hidden[a.Agent] = p.openness[a.Agent].possible(a.Start, a.End)
		}
		p.openness[a.Agent] = p.openness[a.Agent].add(a, closed)
	case history.ErasureCancel: // it restores what the request hid
		for _, was := range p.hidden[a.Agent] {
			p.openness[a.Agent] = p.openness[a.Agent].add(a, was)
		}
		if a.Succeeded() {
			delete(p.hidden, a.Agent)
		}
	case history.PostCreate:
		var made postAnswer
		if !a.Succeeded() || json.Unmarshal(a.Body, &made) != nil || s.Text == nil {
			return
		}
		id, visibility := made.Post.ID, private
		if s.Visibility != nil {
			visibility = *s.Visibility
		}
		p.authors[id] = a.Agent
		p.texts[id], p.visibility[id] = register{}.add(a, *s.Text), register{}.add(a, visibility)
	case history.PostUpdate:
		if s.Text != nil {
			p.texts[a.Subject] = p.texts[a.Subject].add(a, *s.Text)
		}
		if s.Visibility != nil {
			p.visibility[a.Subject] = p.visibility[a.Subject].add(a, *s.Visibility)
		}
	case history.PostDelete:
		p.visibility[a.Subject] = p.visibility[a.Subject].add(a, deleted)
	case history.TaskSelect:
		p.endings[a.Of] = append(p.endings[a.Of], a)
	case history.TaskClose:
		p.endings[a.Subject] = append(p.endings[a.Subject], a)
	case history.ResponseWithdraw:
		p.withdrawals[a.Subject] = append(p.withdrawals[a.Subject], a)
	}
}

// customersOf are the handles of the customers of the tasks that were answered.
func customersOf(h *history.History) map[string]string {
	customers := make(map[string]string)
	for i := range h.Attempts {
		a := &h.Attempts[i]
		var made struct {
			Task struct {
				ID string `json:"id"`
			} `json:"task"`
		}
		if a.Operation == history.TaskCreate && a.Succeeded() && json.Unmarshal(a.Body, &made) == nil {
			customers[made.Task.ID] = a.Agent
		}
	}
	return customers
}

func checkProfiles(r *run, f *Finding) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		switch a.Operation {
		case history.CardGet:
			r.judgeCard(a, f)
		case history.ProfileUpdate:
			body, ok := answerOf[struct {
				Bot struct {
					Bio           string `json:"bio"`
					ProfilePublic bool   `json:"profile_public"`
				}
			}](a, f)
			s := sent(a)
			if ok && (s.Bio != nil && *s.Bio != body.Bot.Bio || s.ProfilePublic != nil && *s.ProfilePublic != body.Bot.ProfilePublic) {
				f.violatedf("%s shows a profile that was not sent", describe(a))
			}
		}
	}
}

// answerOf reads the Body of an attempt that succeeded, and counts it.
func answerOf[T any](a *history.Attempt, f *Finding) (body T, ok bool) {
	if !a.Succeeded() {
		return body, false
	}
	f.Looked++
	return decode[T](f, a)
}

func (r *run) judgeCard(a *history.Attempt, f *Finding) {
	profile := r.product.openness[a.Subject]
	switch {
	case a.Code == "not_found":
		f.Looked++
		if !profile.may(a, closed) {
			f.violatedf("%s, but the profile was open", describe(a))
		}
	case a.Succeeded():
		body, ok := answerOf[struct{ Bot struct{ Bio string } }](a, f)
		switch {
		case !ok:
		case !profile.may(a, open):
			f.violatedf("%s, but the profile was closed", describe(a))
		case !r.product.bios[a.Subject].may(a, body.Bot.Bio):
			f.violatedf("%s shows the bio %q, which is another by then", describe(a), body.Bot.Bio)
		}
	}
}

func checkPostReadings(r *run, f *Finding) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if s := sent(a); is(history.PostCreate, history.PostUpdate)(a) && s.Text != nil && a.Body != nil {
			if body, ok := answerOf[postAnswer](a, f); ok && body.Post.Text != *s.Text {
				f.violatedf("%s shows the text %q instead of the one that was sent", describe(a), body.Post.Text)
			}
		}
		visibility, author := r.product.visibility[a.Subject], r.product.authors[a.Subject]
		if a.Operation != history.PostGet || author == "" { // how it was made is not known
			continue
		}
		own, profile := author == a.Agent, r.product.openness[author]
		switch {
		case a.Code == "not_found":
			f.Looked++
			hidden := visibility.may(a, deleted) || !own && (visibility.may(a, private) || profile.may(a, closed))
			if !hidden {
				f.violatedf("%s, but the post was there to be seen", describe(a))
			}
		case a.Succeeded():
			body, ok := answerOf[postAnswer](a, f)
			switch {
			case !ok:
			case !r.maySee(a, a.Subject):
				f.violatedf("%s, but the post was deleted, private or of a closed profile", describe(a))
			case !r.product.texts[a.Subject].may(a, body.Post.Text):
				f.violatedf("%s shows the text %q, which is another by then", describe(a), body.Post.Text)
			}
		}
	}
}

// isOver says that a task was certainly no longer open at a moment, mayBeOver that it may not have been.
func (p *product) isOver(task string, at time.Duration) bool {
	return slices.ContainsFunc(p.endings[task], func(a *history.Attempt) bool { return a.Succeeded() && a.End < at })
}

func (p *product) mayBeOver(task string, at time.Duration, except string) bool {
	return slices.ContainsFunc(p.endings[task], func(a *history.Attempt) bool {
		return mayHaveActed(a) && a.Start < at && (a.ID == "" || a.ID != except)
	})
}

// mayBeWithdrawn says that a response may have been withdrawn by a moment.
func (p *product) mayBeWithdrawn(response string, at time.Duration) bool {
	return slices.ContainsFunc(p.withdrawals[response], func(a *history.Attempt) bool { return mayHaveActed(a) && a.Start < at })
}

func checkTasks(r *run, f *Finding) {
	for _, task := range sorted(r.product.endings) {
		f.Looked++
		var winner *history.Attempt
		for _, a := range r.product.endings[task] {
			switch {
			case !a.Succeeded() || a.Changed != "":
			case winner == nil:
				winner = a
			case winner.Operation != a.Operation || winner.ID != a.ID:
				f.violatedf("task %s ended twice: %s, and %s", task, describe(winner), describe(a))
			}
		}
		if winner == nil || winner.Operation != history.TaskSelect {
			continue
		}
		for _, a := range r.product.withdrawals[sent(winner).ResponseID] {
			if a.Succeeded() {
				f.violatedf("%s, although %s", describe(a), describe(winner))
			}
		}
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		switch a.Operation {
		case history.ResponseUpdate, history.ResponseWithdraw:
			f.Looked++
			if a.Succeeded() && r.product.isOver(a.Of, a.Start) {
				f.violatedf("%s, but the task was over", describe(a))
			}
		case history.TaskRespond:
			f.Looked++
			if a.Status == 201 && r.product.isOver(a.Subject, a.Start) {
				f.violatedf("%s, but the task was over", describe(a))
			}
		case history.TaskGet:
			r.judgeTask(a, f)
		case history.ResponseList:
			r.judgeResponses(a, f)
		}
	}
}

// judgeTask compares the state that a reading of a task shows with the attempts to end it.
func (r *run) judgeTask(a *history.Attempt, f *Finding) {
	body, ok := answerOf[struct{ Task struct{ State string } }](a, f)
	if !ok {
		return
	}
	over, may := r.product.isOver(a.Subject, a.Start), r.product.mayBeOver(a.Subject, a.End, "")
	if over && body.Task.State == open || !may && body.Task.State != open {
		f.violatedf("%s shows it %s", describe(a), body.Task.State)
	}
}

// judgeResponses compares the states that the customer of a task sees with the attempts to end it: a selection declines the others,
// and so does the end of the task, or a block.
func (r *run) judgeResponses(a *history.Attempt, f *Finding) {
	body, ok := answerOf[struct{ Responses []struct{ ID, State string } }](a, f)
	if !ok || r.customers[a.Subject] != a.Agent {
		return
	}
	chosen := ""
	for _, end := range r.product.endings[a.Subject] {
		if end.Operation == history.TaskSelect && end.Succeeded() {
			chosen = sent(end).ResponseID
		}
	}
	over, may := r.product.isOver(a.Subject, a.Start), r.product.mayBeOver(a.Subject, a.End, "")
	for _, response := range body.Responses {
		expected := "declined"
		if response.ID == chosen {
			expected = selected
		}
		made := r.announced.responses[response.ID]
		blocked := response.State == "declined" && made != nil && r.mayBeBlocked(made.Agent, a.Agent, a)
		if !blocked && (over && response.State != expected || !may && response.State != open) || response.State == withdrawn {
			f.violatedf("%s shows response %s as %s", describe(a), response.ID, response.State)
		}
	}
}

// checkOnce judges ratings, drafts and reports: one of its kind for each side, draft or subject.
func checkOnce(r *run, f *Finding) {
	type key struct{ operation, agent, about string }
	made := make(map[key]map[string]*history.Attempt) // by the id of the record
	for i := range r.Attempts {
		a := &r.Attempts[i]
		about, read := onceEach[a.Operation]
		if !read || !a.Succeeded() {
			continue
		}
		f.Looked++
		id, ok := about(a)
		if !ok {
			f.violatedf("%s has no readable answer", describe(a))
			continue
		}
		if a.Operation == history.OrderRate && !r.mayBeClosed(a.Subject, a.End) {
			f.violatedf("%s, but the order was not closed", describe(a))
		}
		k := key{a.Operation, a.Agent, a.Subject}
		if a.Operation == history.DraftReply {
			k.about, id = a.Of, a.ID
		}
		if made[k] == nil {
			made[k] = make(map[string]*history.Attempt)
		}
		for other, before := range made[k] {
			if other != id {
				f.violatedf("%s, although there was one already: %s", describe(a), describe(before))
			}
		}
		made[k][id] = a
	}
}

// onceEach are the operations that an agent may do once about a subject, or with a handle. They return the id of the record that was made.
var onceEach = map[string]func(a *history.Attempt) (string, bool){
	history.OrderRate: func(a *history.Attempt) (string, bool) {
		var body struct{ Rating struct{ ID string } }
		ok := into(a, &body) && body.Rating.ID != ""
		return body.Rating.ID, ok
	},
	history.Register: func(a *history.Attempt) (string, bool) {
		var body struct{ Bot struct{ ID string } }
		if a.Body == nil {
			return a.Subject, true // its answer was not recorded
		}
		return body.Bot.ID, into(a, &body)
	},
	history.Report: func(a *history.Attempt) (string, bool) {
		var body struct{ Feedback struct{ ID string } }
		ok := into(a, &body) && body.Feedback.ID != ""
		return body.Feedback.ID, ok
	},
	history.DraftReply: func(a *history.Attempt) (string, bool) {
		var body struct{ Draft struct{ ID string } }
		ok := into(a, &body) && body.Draft.ID == a.Of
		return body.Draft.ID, ok
	},
}

func into(a *history.Attempt, body any) bool { return json.Unmarshal(a.Body, body) == nil }
