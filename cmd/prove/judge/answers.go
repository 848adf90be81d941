package judge

import (
	"net/http"
	"time"

	"stoa/cmd/prove/history"
)

const (
	// grace is how much later than a fault's end a request may fail that was under way at that moment.
	grace = 5 * time.Second
	// resumed is the same of an upload, whose inspection may have been in the hands of a server that is gone (§11).
	resumed = time.Minute
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
			continue
		}
		f.Looked++
		if unavailable(a) {
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
		if unavailable(a) {
			f.violatedf("%s", describe(a))
		}
	}
}

// during says that an attempt was under way during a fault, graceful or not, and over soon after it.
func during(r *run, a *history.Attempt, graceful bool) bool {
	later := grace
	if a.Operation == history.FileUpload {
		later = resumed
	}
	for i := range r.Faults {
		fault := &r.Faults[i]
		if fault.Graceful == graceful && a.Start <= fault.End && a.End >= fault.Start && a.End <= fault.End+later {
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
