package judge

import (
	"net/http"
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// checkOnce looks for two agents that registered under one handle, and for a registration that was answered with two agents.
var checkOnce = each(func(r *run, a *history.Attempt) string {
	if id := r.ids[a.Subject]; a.Succeeded() && got(a).Bot.ID != id {
		return ", although " + id + " has the handle"
	}
	return ""
}, history.Register)

// checkErasures looks for agents whose token still works when their erasure was due (§12.7).
var checkErasures = each(func(r *run, a *history.Attempt) string {
	isFollowed := slices.ContainsFunc(r.by[a.Operation], func(b *history.Attempt) bool {
		return b != a && b.Agent == a.Agent && (b.Start > a.Start || b.Status == http.StatusUnauthorized)
	})
	if settled(a) && !isFollowed { // also an answer without an erasure
		return ": the agent's token is still good"
	}
	return ""
}, history.ErasureDue)

// checkTokens compares each use of a token with the operations that had ended the token by then.
func checkTokens(r *run, f *Finding) {
	for _, a := range r.of(history.TokenUse, history.TokenRotate, history.TokenSocket) {
		f.Looked++
		if a.Operation == history.TokenSocket && r.disturbed(a.Start-socketLooks, a.End) {
			f.Excused++
			continue
		}
		ends := r.of(history.TokenRotate, history.TokenRevoke, history.TokenReissue)
		other := func(b *history.Attempt) bool { return b != a && b.Agent == a.Agent && b.Of == a.Of }
		switch {
		case a.Succeeded() && a.Operation == history.TokenRotate && did(ends, r.end(), other):
			f.violatedf("%s of %s, which another request has changed as well", Describe(a), a.Of)
		case a.Succeeded() && did(ends, a.Start, other):
			f.violatedf("%s with %s, which had ended", Describe(a), a.Of)
		case a.Status == http.StatusUnauthorized && !may(ends, a.End, other):
			f.violatedf("%s with %s, which was good", Describe(a), a.Of)
		}
	}
}

// socketLooks is how long before a token's end a fault may still keep a server from noticing it.
const socketLooks = 5 * time.Second

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

// checkUnsound looks for accepted files that should have been refused.
var checkUnsound = each(func(_ *run, a *history.Attempt) string {
	if a.Succeeded() {
		return ", but it is no sound file"
	}
	return ""
}, history.FileUnsound)

func checkFiles(r *run, f *Finding) {
	for _, q := range r.requests {
		a := q.succeeded()
		if a == nil || a.Operation != history.FileUpload {
			continue
		}
		f.Looked++
		file := got(a).Attachment
		switch hash, there := r.Final.Files[file.ID]; {
		case !there:
			f.violatedf("%s made file %s, which is gone", Describe(a), file.ID)
		case hash != a.Subject || hash != file.SHA256:
			f.violatedf("%s made file %s with hash %s, which has now %s", Describe(a), file.ID, file.SHA256, hash)
		}
	}
}
