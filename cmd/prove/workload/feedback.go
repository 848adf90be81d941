package workload

import (
	"context"
	"net/http"
	"strings"

	"stoa/cmd/prove/history"
)

// noteReport remembers the feedback of an answer.
func (a *Agent) noteReport(got answer) {
	var made struct{ Feedback struct{ ID string } }
	if got.succeeded() && got.into(&made) == nil {
		a.w.reports.add(made.Feedback.ID)
	}
}

// answerFeedback has an operator answer all reports, once the faults are over.
func (w *Workload) answerFeedback(ctx context.Context) error {
	answered := make(map[string]bool)
	for _, id := range w.reports.list(func(string) bool { return true }) {
		if answered[id] {
			continue
		}
		answered[id] = true
		recorded := history.Attempt{Operation: history.FeedbackAnswer, Subject: id, Start: w.Recorder.Now(), Status: http.StatusOK}
		err := w.bed.AnswerFeedback(ctx, id)
		recorded.End = w.Recorder.Now()
		if err != nil {
			if !strings.Contains(err.Error(), "not_found") {
				return err
			}
			recorded.Status, recorded.Code = http.StatusNotFound, "not_found" // a restore may have undone it
		}
		w.Recorder.Record(func(h *history.History) { h.Attempts = append(h.Attempts, recorded) })
	}
	return nil
}
