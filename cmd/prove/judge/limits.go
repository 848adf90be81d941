package judge

import (
	"net/http"
)

// checkLimits counts the successes of each burst over a limit.
func checkLimits(r *run, f *Finding) {
	for i := range r.Bursts {
		b := &r.Bursts[i]
		var all, successes, unsure int
		for _, a := range r.by[b.Operation] {
			if b.Agent != "" && a.Agent != b.Agent || a.Start < b.Start || a.Start > b.End {
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
				f.violatedf("%s: %s instead of %s with Retry-After", b.Limit, Describe(a), b.Code)
			}
		}
		switch {
		case all == 0:
			f.violatedf("%s: the burst at %s has no attempts", b.Limit, clock(b.Start))
		case r.forgotten(b.Start, b.End), b.AtMost && r.met(b.Start-2*aftermath, b.End, endsRequests):
			f.Excused++ // counted requests may have ended, so more could succeed
		case successes > b.Allowed:
			f.violatedf("%s: %d of %d succeeded from %s to %s, %d are allowed",
				b.Limit, successes, all, clock(b.Start), clock(b.End), b.Allowed)
		case successes+unsure < min(b.Allowed, all) && !b.AtMost:
			f.violatedf("%s: only %d of %d succeeded from %s to %s, and %d had no answer; %d are allowed",
				b.Limit, successes, all, clock(b.Start), clock(b.End), unsure, b.Allowed)
		}
	}
}
