package judge

import (
	"net/http"
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// recounted is how long before and after a failover the figures of a burst may rest on what the failover made forget.
const recounted = time.Minute

func checkLimits(r *run, f *Finding) {
	for i := range r.Bursts {
		b := &r.Bursts[i]
		var all, successes, unsure int
		for j := range r.Attempts {
			a := &r.Attempts[j]
			if a.Operation != b.Operation || b.Agent != "" && a.Agent != b.Agent || a.Start < b.Start || a.Start > b.End {
				continue
			}
			all++
			f.Looked++
			switch {
			case unknown(a):
				unsure++
			case a.Succeeded():
				successes++
			case a.Code != b.Code || a.Status != http.StatusTooManyRequests || !a.RetryAfter:
				f.violatedf("%s: %s instead of %s with Retry-After", b.Limit, describe(a), b.Code)
			}
		}
		expected := min(b.Allowed, all)
		switch {
		case all == 0:
			f.violatedf("%s: the burst at %s has no attempts", b.Limit, clock(b.Start))
		case forgotten(r.Faults, b), b.AtMost && r.brokenIn(b.Start-aftermath, b.End):
			f.Excused++
		case successes > b.Allowed:
			f.violatedf("%s: %d of %d succeeded from %s to %s, %d are allowed",
				b.Limit, successes, all, clock(b.Start), clock(b.End), b.Allowed)
		case successes+unsure < expected && !b.AtMost:
			f.violatedf("%s: only %d of %d succeeded from %s to %s, and %d had no answer; %d are allowed",
				b.Limit, successes, all, clock(b.Start), clock(b.End), unsure, b.Allowed)
		}
	}
}

// brokenIn says that a fault may have ended what counted at some moment of a span, so that more could succeed in turn. A machine without
// time ends nothing.
func (r *run) brokenIn(from, to time.Duration) bool {
	return slices.ContainsFunc(r.Faults, func(f history.Fault) bool {
		return f.Name != history.MachineStarved && !f.Mail && f.Start <= to && f.End+aftermath >= from
	})
}

// forgotten says that a failover may have made the servers forget what had counted.
func forgotten(faults []history.Fault, b *history.Burst) bool {
	for _, fault := range faults {
		if fault.Failover && b.End >= fault.Start-recounted && b.Start <= fault.End+recounted {
			return true
		}
	}
	return false
}
