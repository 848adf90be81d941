package judge

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

const (
	// grace is how much later than a fault's end a request may fail that was under way at that moment.
	grace = 5 * time.Second
	// resumed is the same of an upload, whose inspection may have been in the hands of a server that is gone (§11).
	resumed = time.Minute
	// rejoined is how much later than a fault's end a poll or a stream may begin and fail: a server that has lost the database looks
	// every few seconds whether it can join the others again, and takes neither before.
	rejoined = 10 * time.Second
	// budget is how long a request may wait for the database (§8), a little less for the clock of the history.
	budget = 3500 * time.Millisecond
	// searchBudget is the same of a search, which has a second (§8).
	searchBudget = 900 * time.Millisecond
	// starved is how long half of the readings take where the machine has no time for the servers.
	starved = 500 * time.Millisecond
	// checked is how long before and after a moment readings and the canary show how busy the machine was when the load balancer asked
	// the servers whether they are ready.
	checked = 5 * time.Second
)

func checkInternalErrors(r *run, f *Finding) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		f.Looked++
		if a.Status >= 500 && !unavailable(a) {
			f.violatedf("%s", describe(a))
		}
	}
}

// unavailable reports whether an attempt failed in a way that is allowed during a fault: no answer, 503, or the load balancer's
// 502 and 504.
func unavailable(a *history.Attempt) bool {
	switch a.Status {
	case history.Unanswered, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

func checkService(r *run, f *Finding) {
	for _, fault := range r.Faults {
		if fault.End < fault.Start {
			f.violatedf("service never returned after %s of %s at %s", fault.Name, fault.Target, clock(fault.Start))
		}
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if during(r, a, true) || during(r, a, false) {
			if unavailable(a) && !during(r, a, true) && !during(r, a, false, history.MachineStarved) {
				f.Excused++
			}
			continue
		}
		f.Looked++
		switch {
		case !unavailable(a):
		case r.isStarved(a), isGivenUp(a):
			f.Excused++
		default:
			f.violatedf("%s", describe(a))
		}
	}
}

func checkGraceful(r *run, f *Finding) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if !during(r, a, true) || during(r, a, false) {
			continue
		}
		f.Looked++
		switch {
		case !unavailable(a):
		case r.isStarved(a), isCutOff(a), isGivenUp(a):
			f.Excused++
		default:
			f.violatedf("%s", describe(a))
		}
	}
}

// searches are the requests that search.
var searches = is("burst.search", history.PublicRead)

// isStarved says that a request failed while the machine had no time for the servers, as the canary saw: it was given up, by the server
// or by its client, after its whole time for the database, and plain readings, which wait for no lock, took long as well; it was a
// search that took longer than a search may; or the load balancer had found no server ready.
func (r *run) isStarved(a *history.Attempt) bool {
	noServer := strings.HasPrefix(a.Failure, history.NoServer)
	switch {
	case a.Status != http.StatusServiceUnavailable && a.Status != history.Unanswered:
		return false
	case searches(a) && a.End-a.Start >= searchBudget && a.End-a.Start < budget:
		return r.isBusy(a.Start-checked, a.End+checked)
	case a.End-a.Start >= budget:
		return r.medianReading(a.Start, a.End) >= starved && r.isBusy(a.Start-checked, a.End+checked)
	case noServer && r.Final.Orders == nil && a.End+checked+straggling > r.Length:
		return true // the run goes on, and readings of that time may be under way
	case noServer:
		return r.isBusy(a.Start-checked, a.End+checked) &&
			(r.medianReading(a.Start-checked, a.End+checked) >= starved || r.isOutOfTime(a.Start-checked, a.End+checked))
	}
	return false
}

// during says that an attempt was under way during a fault, graceful or not, and over soon after it; some names of faults do not count.
func during(r *run, a *history.Attempt, graceful bool, except ...string) bool {
	later, begins := grace, time.Duration(0)
	switch a.Operation {
	case history.FileUpload:
		later = resumed
	case history.EventPoll, history.EventStream:
		later, begins = grace+rejoined, rejoined
	}
	for i := range r.Faults {
		fault := &r.Faults[i]
		if fault.Graceful == graceful && !slices.Contains(except, fault.Name) && a.Start <= fault.End+begins && a.End >= fault.Start && a.End <= fault.End+later {
			return true
		}
	}
	return false
}

// An answer without a Process is the load balancer's own, which has promised nothing.
func checkRetryAfter(r *run, f *Finding) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if a.Status != http.StatusTooManyRequests && (a.Status != http.StatusServiceUnavailable || a.Process == "") {
			continue
		}
		f.Looked++
		if !a.RetryAfter {
			f.violatedf("%s, without Retry-After", describe(a))
		}
	}
}
