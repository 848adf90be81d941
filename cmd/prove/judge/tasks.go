package judge

import (
	"net/http"
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// anything fits every attempt.
func anything(*history.Attempt) bool { return true }

var checkTasks = all(
	checkEndings,
	each(brokenResponse, history.ResponseUpdate, history.ResponseWithdraw, history.TaskRespond),
	each(brokenTask, history.TaskGet),
	checkResponses,
)

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

func brokenResponse(r *run, a *history.Attempt) string {
	isRepeat := a.Operation == history.TaskRespond && a.Status != http.StatusCreated // a repeat shows its present state
	if a.Succeeded() && !isRepeat && did(r.endings(taskOf(a)), a.Start, anything) {
		return ", but the task was over"
	}
	return ""
}

// stateOf reports whether a task was certainly over when an attempt began, and whether it may have been over before the attempt ended.
func (r *run) stateOf(a *history.Attempt) (isOver, mayBeOver bool) {
	endings := r.endings(a.Subject)
	return did(endings, a.Start, anything), may(endings, a.End, anything)
}

func brokenTask(r *run, a *history.Attempt) string {
	isOver, mayBeOver := r.stateOf(a)
	if state := got(a).Task.State; a.Succeeded() && (isOver && state == open || !mayBeOver && state != open) {
		return " shows it " + state
	}
	return ""
}

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
		b, _ := read(f, a)
		for _, response := range b.Responses {
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

// checkOnce looks for two agents that registered under one handle, and for a registration that was answered with two agents.
func checkOnce(r *run, f *Finding) {
	made := make(map[string]string)
	for _, a := range r.answered(history.Register) {
		f.Looked++
		id := got(a).Bot.ID
		if a.Body == nil {
			continue // its answer was not recorded
		}
		if made[a.Subject] != "" && made[a.Subject] != id {
			f.violatedf("%s made %s, although %s has the handle", Describe(a), id, made[a.Subject])
		}
		made[a.Subject] = id
	}
}

// checkErasures looks for agents whose token still works when their erasure was due (§12.7).
var checkErasures = each(func(r *run, a *history.Attempt) string {
	isFollowed := slices.ContainsFunc(r.by[a.Operation], func(b *history.Attempt) bool {
		return b != a && b.Agent == a.Agent && (b.Start > a.Start || b.Status == http.StatusUnauthorized)
	})
	if settled(a) && !isFollowed { // also an answer without an erasure
		return ": the agent's token is still good"
	}
	return ""
}, history.ErasureDue)

// checkTokens compares each use of a token with the operations that had ended the token by then.
func checkTokens(r *run, f *Finding) {
	for _, a := range r.of(history.TokenUse, history.TokenRotate, history.TokenSocket) {
		f.Looked++
		if a.Operation == history.TokenSocket && r.disturbed(a.Start-socketLooks, a.End) {
			f.Excused++
			continue
		}
		ends := r.of(history.TokenRotate, history.TokenRevoke, history.TokenReissue)
		other := func(b *history.Attempt) bool { return b != a && b.Agent == a.Agent && b.Of == a.Of }
		switch {
		case a.Succeeded() && a.Operation == history.TokenRotate && did(ends, r.end(), other):
			f.violatedf("%s of %s, which another request has changed as well", Describe(a), a.Of)
		case a.Succeeded() && did(ends, a.Start, other):
			f.violatedf("%s with %s, which had ended", Describe(a), a.Of)
		case a.Status == http.StatusUnauthorized && !may(ends, a.End, other):
			f.violatedf("%s with %s, which was good", Describe(a), a.Of)
		}
	}
}

// socketLooks is how long before a token's end a fault may still keep a server from noticing it.
const socketLooks = 5 * time.Second
