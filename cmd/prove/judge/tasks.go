package judge

import (
	"net/http"

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
