package judge

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// This file holds everything that excuses a service: faults in force, a machine without time, and what clients gave up themselves.

const (
	// grace is how much later than a fault's end a request may fail that was under way at that moment.
	grace = 5 * time.Second
	// resumed is the same of an upload, whose inspection may have been in the hands of a server that is gone (§11).
	resumed = time.Minute
	// rejoined is how much later than a fault's end a poll may begin and fail: a server that has lost the database looks
	// every few seconds whether it can join the others again, and takes neither before.
	rejoined = 10 * time.Second
	// budget is how long a request may wait for the database (§8), a little less for the clock of the history.
	budget = 3500 * time.Millisecond
	// searchBudget is the same of a search, which has a second (§8).
	searchBudget = 900 * time.Millisecond
	// starved is how long half of the readings take if the machine has no time for the servers.
	starved = 500 * time.Millisecond
	// checked is how long before and after a moment readings and the canary show how busy the machine was when the load balancer asked
	// the servers whether they are ready.
	checked = 5 * time.Second
	// aftermath is how long after a fault events may still be late.
	aftermath = time.Second
	// straggling is how much later than it was given up a request may have its effect.
	straggling = 30 * time.Second
	// recounted is how long before and after a failover figures may rest on what the failover made forget.
	recounted = time.Minute
	// patience is how long an upload waits for its inspection, clientPatience after how long the agents give a request up, a little less
	// for the clock of the history.
	patience, clientPatience = 30 * time.Second, 11500 * time.Millisecond
	// bodyWait is how long a server that ends waits at least for a body that is under way when it takes no more connections
	// (docs/running.md), a little less for the clock of the history.
	bodyWait = 3 * time.Second
)

// met reports that a fault that fits was in force at some moment of a span.
func (r *run) met(from, to time.Duration, fits func(fault *history.Fault) bool) bool {
	for i := range r.Faults {
		if f := &r.Faults[i]; f.Start <= to && f.End >= from && fits(f) {
			return true
		}
	}
	return false
}

func anyFault(*history.Fault) bool         { return true }
func delaysEvents(f *history.Fault) bool   { return !f.Mail }
func endsRequests(f *history.Fault) bool   { return !f.Mail && f.Name != history.MachineStarved }
func forgetsLimits(f *history.Fault) bool  { return f.Failover }
func starvesMachine(f *history.Fault) bool { return f.Name == history.MachineStarved }

// disturbed reports that a fault was in force at some moment of a span, or a moment before it. What ails the mail server delays no
// event.
func (r *run) disturbed(from, to time.Duration) bool { return r.met(from-aftermath, to, delaysEvents) }

// faultWithin reports whether a fault was in force during an attempt or some time before it.
func (r *run) faultWithin(a *history.Attempt, before time.Duration) bool {
	return r.met(a.Start-before, a.End, delaysEvents)
}

// forgotten reports whether a failover may have made the servers forget what had counted in a span.
func (r *run) forgotten(from, to time.Duration) bool {
	return r.met(from-recounted, to+recounted, forgetsLimits)
}

// isBusy reports whether the canary had to wait at some moment of a span. It asks no server, so a service that is slow by itself is not
// excused by it.
func (r *run) isBusy(from, to time.Duration) bool {
	return r.met(from, to, starvesMachine) ||
		slices.ContainsFunc(r.Delays, func(d history.Delay) bool { return d.Start <= to && d.End >= from })
}

// dueAfter is the moment by which what began and was answered at some time must have had its effect: some patience after the answer, or
// after the last of the faults that may have met it or its effect by then. A machine without time puts it off by as long as it had none.
func (r *run) dueAfter(begun, answered, patience time.Duration) time.Duration {
	due := answered + patience
	for _, fault := range r.byStart {
		switch {
		case fault.Mail || fault.Start > due || fault.End+aftermath < begun:
		case starvesMachine(&fault):
			due += fault.End + aftermath - fault.Start
		default:
			due = max(due, fault.End+patience)
		}
	}
	return due
}

// during reports whether an attempt was under way during a fault, graceful or not, and ended soon after it. Faults with the names of
// except do not count.
func (r *run) during(a *history.Attempt, graceful bool, except ...string) bool {
	later, begins := grace, time.Duration(0)
	switch a.Operation {
	case history.FileUpload:
		later = resumed
	case history.EventPoll:
		later, begins = grace+rejoined, rejoined
	}
	return r.met(a.Start-begins, a.End, func(fault *history.Fault) bool {
		return fault.Graceful == graceful && !slices.Contains(except, fault.Name) && a.End <= fault.End+later
	})
}

// readings are requests that wait for no lock of another request.
var readings = []string{
	history.OrderGet, history.WalletGet, history.WalletHistory, history.CardGet, history.PostGet, history.TaskGet,
}

// medianReading is the median duration of the readings that were under way in a span and no fault but a graceful one met. It shows
// how busy the machine was.
func (r *run) medianReading(from, to time.Duration) time.Duration {
	var lengths []time.Duration
	for _, a := range r.of(readings...) {
		if !unknown(a) && a.Start < to && a.End > from && !r.during(a, false, history.MachineStarved) {
			lengths = append(lengths, a.End-a.Start)
		}
	}
	if len(lengths) == 0 {
		return 0
	}
	return median(lengths)
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
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

// searches are the requests that search.
var searches = is("burst.search")

// isStarved reports whether a request failed while the canary saw that the machine had no time for the servers: it was given up, by
// the server or by its client, after its whole time for the database, and plain readings, which wait for no lock, took long as well; it was a
// search that took longer than a search may; or the load balancer had found no server ready.
func (r *run) isStarved(a *history.Attempt) bool {
	from, to, took := a.Start-checked, a.End+checked, a.End-a.Start
	noServer := strings.HasPrefix(a.Failure, history.NoServer)
	switch {
	case a.Status != http.StatusServiceUnavailable && a.Status != history.Unanswered:
		return false
	case searches(a) && took >= searchBudget && took < budget:
		return r.isBusy(from, to)
	case took >= budget:
		return r.isBusy(from, to) && r.medianReading(a.Start, a.End) >= starved
	case noServer && r.Final.Orders == nil && to+straggling > r.Length:
		return true // the run goes on, and readings of that time may be under way
	case noServer:
		return r.isBusy(from, to) && (r.medianReading(from, to) >= starved || r.met(from, to, starvesMachine))
	}
	return false
}

// isGivenUp reports whether an upload was given up by its client while its inspection had time left (§4.8). That it is taken at last
// checkSettled sees.
func isGivenUp(a *history.Attempt) bool {
	took := a.End - a.Start
	return is(history.FileUpload, history.FileUnsound)(a) && a.Status == history.Unanswered && took >= clientPatience && took < patience
}

// isCutOff reports whether a body was still under way when the server ended that had waited for it.
func isCutOff(a *history.Attempt) bool { return a.Slow && unavailable(a) && a.End-a.Start >= bodyWait }

// bodyMayBeLate reports whether a body may have come too slowly although its agent sent it in time: the machine starved, or a fault was in
// force.
func (r *run) bodyMayBeLate(a *history.Attempt) bool {
	return a.Slow && a.Status == http.StatusRequestTimeout && r.disturbed(a.Start, a.End)
}

func checkService(r *run, f *Finding) {
	for _, fault := range r.Faults {
		if fault.End < fault.Start {
			f.violatedf("service never returned after %s of %s at %s", fault.Name, fault.Target, clock(fault.Start))
		}
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		switch {
		case !r.during(a, true) && !r.during(a, false):
			r.judgeAvailable(a, f, r.isStarved(a) || isGivenUp(a))
		case unavailable(a) && !r.during(a, true) && !r.during(a, false, history.MachineStarved):
			f.Excused++
		}
	}
}

func checkGraceful(r *run, f *Finding) {
	for i := range r.Attempts {
		if a := &r.Attempts[i]; r.during(a, true) && !r.during(a, false) {
			r.judgeAvailable(a, f, r.isStarved(a) || isGivenUp(a) || isCutOff(a))
		}
	}
}

func (r *run) judgeAvailable(a *history.Attempt, f *Finding, excused bool) {
	f.Looked++
	switch {
	case !unavailable(a):
	case excused:
		f.Excused++
	default:
		f.violatedf("%s", Describe(a))
	}
}

var checkInternalErrors = each(func(_ *run, a *history.Attempt) string {
	if a.Status >= 500 && !unavailable(a) {
		return ", an internal error"
	}
	return ""
})

// checkRetryAfter looks at every 429 and 503. An answer without a Process is the load balancer's own, which has promised nothing.
var checkRetryAfter = each(func(_ *run, a *history.Attempt) string {
	isOver := a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable && a.Process != ""
	if isOver && !a.RetryAfter {
		return ", without Retry-After"
	}
	return ""
})
