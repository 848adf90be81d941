package judge

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// rate is a limit of an agent in a span that slides (§8).
type rate struct {
	name, code string
	quota      int
	// counts: an attempt counts towards it unless it is refused for it; new that only the first success under an id counts.
	counts fits
	new    bool
}

// span is that of all rates. The limit forgets an act up to a sixtieth of it earlier.
const span = time.Minute

var rates = []rate{
	{name: "changes", code: "write_limited", quota: 120, counts: func(a *history.Attempt) bool { return a.Changes }},
	{name: "new messages", code: "rate_limited", quota: 60, counts: is(history.MessageSend), new: true},
	{name: "new friendship requests", code: "rate_limited", quota: 10, counts: is(history.ContactRequest, "burst.contact"), new: true},
	{name: "searches", code: "rate_limited", quota: 300, counts: is("burst.search")},
}

// limits reports whether an attempt was refused by a rate.
func (l *rate) limits(a *history.Attempt) bool {
	return a.Status == http.StatusTooManyRequests && a.Code == l.code && l.counts(a)
}

// checkRates judges every refusal by a rate, and every agent's attempts that no rate refused, over all processes.
func checkRates(r *run, f *Finding) {
	for i := range rates {
		l := &rates[i]
		byAgent := make(map[string][]*history.Attempt)
		for j := range r.Attempts {
			if a := &r.Attempts[j]; a.Agent != "" && l.counts(a) {
				byAgent[a.Agent] = append(byAgent[a.Agent], a)
			}
		}
		for _, agent := range sorted(byAgent) {
			f.Looked += len(byAgent[agent])
			l.judgeRefusals(r, byAgent[agent], f)
			l.judgeAcceptance(r, agent, byAgent[agent], f)
		}
	}
}

// judgeRefusals reports refusals at moments at which the agent cannot have used up the rate. An attempt that a fault met may count
// twice, since the server may have begun it again.
func (l *rate) judgeRefusals(r *run, all []*history.Attempt, f *Finding) {
	for _, a := range all {
		if !l.limits(a) {
			continue
		}
		may := 0
		for _, other := range all {
			end := other.End
			if unknown(other) {
				end += straggling
			}
			if other == a || l.limits(other) || other.Start >= a.End || end <= a.Start-span {
				continue
			}
			may++
			if r.disturbed(other.Start, other.End) {
				may++
			}
		}
		if may < l.quota {
			f.violatedf("%s, after at most %d of %d %s within %s", Describe(a), may, l.quota, l.name, span)
		}
	}
}

// judgeAcceptance reports a span with more than the rate.
func (l *rate) judgeAcceptance(r *run, agent string, all []*history.Attempt, f *Finding) {
	const certainly = span - span/30
	var taken []*history.Attempt
	seen := make(map[string]bool)
	for _, a := range all {
		certain := a.Operation != history.ToolCall && !a.Tool && // it may be answered before it counts
			!unknown(a) && !l.limits(a) && a.Status != http.StatusUnauthorized && a.Status != http.StatusRequestTimeout
		if l.new {
			certain = a.Status == http.StatusCreated && (a.ID == "" || !seen[a.ID])
			seen[a.ID] = seen[a.ID] || certain
		}
		if certain {
			taken = append(taken, a)
		}
	}
	slices.SortFunc(taken, func(a, b *history.Attempt) int { return cmp.Compare(a.End, b.End) })
	for i := 0; i+l.quota < len(taken); i++ {
		first, last := taken[i].End, taken[i+l.quota].End
		for _, a := range taken[i : i+l.quota+1] {
			first = min(first, a.Start)
		}
		switch {
		case last-first >= certainly:
		case r.forgotten(first, last):
			f.Excused++
		default:
			f.violatedf("%s of %s: %d from %s to %s, and %d are allowed within %s", l.name, agent, l.quota+1, clock(first), clock(last), l.quota, span)
			return
		}
	}
}

// checkLimits counts what succeeded of each burst over a limit.
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
			f.Excused++ // what counted may have ended, so that more could succeed in turn
		case successes > b.Allowed:
			f.violatedf("%s: %d of %d succeeded from %s to %s, %d are allowed",
				b.Limit, successes, all, clock(b.Start), clock(b.End), b.Allowed)
		case successes+unsure < min(b.Allowed, all) && !b.AtMost:
			f.violatedf("%s: only %d of %d succeeded from %s to %s, and %d had no answer; %d are allowed",
				b.Limit, successes, all, clock(b.Start), clock(b.End), unsure, b.Allowed)
		}
	}
}
