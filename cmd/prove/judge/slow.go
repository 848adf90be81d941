package judge

import (
	"net/http"
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// checkSlow judges the files that are sent slowly, across restarts and crashes: the answer is 201, or none, a 503 or upload_busy, and
// then a repeat succeeds (§4.8). What an upload that was cut off has stored counts for nothing, which checkLeaks sees.
func checkSlow(r *run, f *Finding) {
	for _, q := range r.requests {
		if !slices.ContainsFunc(q.attempts, func(a *history.Attempt) bool { return a.Slow }) || q.isUndone() {
			continue
		}
		for _, a := range q.attempts {
			if !a.Slow {
				continue
			}
			f.Looked++
			isBusy := a.Code == "upload_busy" // checkRefusals says when that may be
			if !a.Succeeded() && !unavailable(a) && !r.bodyMayBeLate(a) && !isBusy {
				f.violatedf("%s", describe(a))
			}
		}
		if q.succeeded() == nil {
			f.violatedf("%s was sent slowly, and no repeat of it was ever taken, the last: %s", q, describe(q.attempts[len(q.attempts)-1]))
		}
	}
}

// bodyMayBeLate says that a body may have come too slowly although its agent sent it in time: the machine starved, or a fault was in
// force.
func (r *run) bodyMayBeLate(a *history.Attempt) bool {
	return a.Slow && a.Status == http.StatusRequestTimeout && r.disturbed(a.Start, a.End)
}

// clientPatience is after how long the agents give a request up, a little less for the clock of the history.
const clientPatience = 11500 * time.Millisecond

// isGivenUp says that an upload was given up by its client while its inspection had time left (§4.8). That it is taken at last
// checkSettled sees.
func isGivenUp(a *history.Attempt) bool {
	took := a.End - a.Start
	return is(history.FileUpload, history.FileUnsound)(a) && a.Status == history.Unanswered && took >= clientPatience && took < patience
}

// bodyWait is how long a server that ends waits at least for a body that is under way when it takes no more connections (docs/running.md),
// a little less for the clock of the history.
const bodyWait = 3 * time.Second

// isCutOff says that a body was still under way when the server ended that had waited for it.
func isCutOff(a *history.Attempt) bool { return a.Slow && unavailable(a) && a.End-a.Start >= bodyWait }
