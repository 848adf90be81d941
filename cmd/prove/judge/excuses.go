package judge

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// This file holds all excuses of a service: faults in force, a machine without processor time, and requests that clients gave up.

const (
	// grace is how long after a fault's end a request may still fail that was running then.
	grace = 5 * time.Second
	// resumed is the same for uploads: the server that inspected the file may have died (§11).
	resumed = time.Minute
	// rejoined is how long after a fault's end a poll may begin and fail. A server that lost the database checks every few
	// seconds whether it can join the others again, and accepts neither polls nor sockets before.
	rejoined = 10 * time.Second
	// budget is how long a request may wait for the database (§8), slightly less because of the history's clock.
	budget = 3500 * time.Millisecond
	// searchBudget is the same for a search, which has a second (§8).
	searchBudget = 900 * time.Millisecond
	// If the median read takes longer than starved, the machine gave the servers too little CPU.
	starved = 500 * time.Millisecond
	// checked is how long before and after a moment reads and the canary show the machine's load at the load balancer's readiness
	// checks.
	checked = 5 * time.Second
	// aftermath is how long after a fault events may still be late.
	aftermath = time.Second
	// straggling is how long after it was given up a request may still take effect.
	straggling = 30 * time.Second
	// recounted is how long before and after a failover counts may depend on entries that the failover lost.
	recounted = time.Minute
	// patience is how long an upload waits for its inspection. clientPatience is when agents give up a request, slightly less
	// because of the history's clock.
	patience, clientPatience = 30 * time.Second, 11500 * time.Millisecond
	// bodyWait is how long an ending server waits at least for a body in progress after it accepts no more connections
	// (docs/running.md), slightly less because of the history's clock.
	bodyWait = 3 * time.Second
)

// met reports whether a fault that fits was in force at some moment of a span.
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

// disturbed reports whether a fault was in force during a span or shortly before it. Faults of the mail server do not delay
// events.
func (r *run) disturbed(from, to time.Duration) bool { return r.met(from-aftermath, to, delaysEvents) }

// forgotten reports whether a failover may have lost counts from a span.
func (r *run) forgotten(from, to time.Duration) bool {
	return r.met(from-recounted, to+recounted, forgetsLimits)
}

// isBusy reports whether the canary had to wait at some moment of a span. The canary asks no server, so it does not excuse a
// service that is slow by itself.
func (r *run) isBusy(from, to time.Duration) bool {
	return r.met(from, to, starvesMachine) ||
		slices.ContainsFunc(r.Delays, func(d history.Delay) bool { return d.Start <= to && d.End >= from })
}

// dueAfter returns when a request must have taken effect: some patience after its answer, or after the last fault that may have
// met the request or its effect by then. Time without processor is added.
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

// during reports whether an attempt ran during a fault, graceful or not, and ended soon after it. Faults named in except do not
// count.
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

// readings are requests that do not wait for locks of others.
var readings = []string{
	history.OrderGet, history.WalletGet, history.WalletHistory, history.CardGet, history.PostGet, history.TaskGet,
}

// medianReading is the median duration of the reads in a span that met no fault except graceful ones. It shows the machine's
// load.
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

var searches = is("burst.search")

// isStarved reports whether a request failed because the machine had no CPU for the servers, as the canary saw: server or client
// gave it up after its whole time for the database, while plain reads without locks were slow as well; or it was a search over a
// search's time; or the load balancer had found no server ready.
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
		return true // the run goes on, and reads of that time may be running
	case noServer:
		return r.isBusy(from, to) && (r.medianReading(from, to) >= starved || r.met(from, to, starvesMachine))
	}
	return false
}

// isGivenUp reports whether the client gave up an upload while its inspection had time left (§4.8). checkSettled makes sure that
// the upload is accepted at last.
func isGivenUp(a *history.Attempt) bool {
	took := a.End - a.Start
	return is(history.FileUpload, history.FileUnsound)(a) && a.Status == history.Unanswered && took >= clientPatience && took < patience
}

// isCutOff reports whether a body was cut off by an ending server that had waited for it.
func isCutOff(a *history.Attempt) bool { return a.Slow && unavailable(a) && a.End-a.Start >= bodyWait }

// bodyMayBeLate reports whether a body may have arrived too slowly although its agent sent it in time: the machine starved, or a
// fault was in force.
func (r *run) bodyMayBeLate(a *history.Attempt) bool {
	return a.Slow && a.Status == http.StatusRequestTimeout && r.disturbed(a.Start, a.End)
}

func checkService(r *run, f *Finding) {
	for _, fault := range r.Faults {
		if fault.End < fault.Start {
			f.violatedf("service never returned after %s of %s at %s", fault.Name, fault.Target, clock(fault.Start))
		}
	}
	for _, a := range r.all {
		switch {
		case !r.during(a, true) && !r.during(a, false):
			r.judgeAvailable(a, f, r.isStarved(a) || isGivenUp(a))
		case unavailable(a) && !r.during(a, true) && !r.during(a, false, history.MachineStarved):
			f.Excused++
		}
	}
}

func checkGraceful(r *run, f *Finding) {
	for _, a := range r.all {
		if r.during(a, true) && !r.during(a, false) {
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

var checkAnswers = each(func(_ *run, a *history.Attempt) string {
	switch {
	case a.Status >= 500 && !unavailable(a):
		return ", an internal error"
	case a.Body != nil && json.Unmarshal(a.Body, new(answer)) != nil:
		return " has no readable answer"
	}
	return ""
})

// checkRetryAfter judges every 429 and 503. An answer without a Process is from the load balancer, which promises nothing.
var checkRetryAfter = each(func(_ *run, a *history.Attempt) string {
	isOver := a.Status == http.StatusTooManyRequests || a.Status == http.StatusServiceUnavailable && a.Process != ""
	if isOver && !a.RetryAfter {
		return ", without Retry-After"
	}
	return ""
})
