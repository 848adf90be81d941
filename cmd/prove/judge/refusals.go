package judge

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// ofResponse are the codes of the operations on a response.
const ofResponse = "state_conflict contact_blocked"

// refusals lists the codes with which each operation may be refused. Other codes are violations: the description of the API has
// more codes, which these agents never cause. The models of orders and contacts decide when each of their codes may come.
var refusals = map[string]string{
	history.MessageSend:    "nonce_reuse idempotency_conflict contact_not_accepted rate_limited",
	history.ContactRequest: "rate_limited",
	history.FileUpload:     "upload_busy storage_quota_exceeded upload_unavailable idempotency_conflict request_timeout",
	history.FileUnsound:    "upload_busy storage_quota_exceeded invalid_file",
	history.Register:       "handle_unavailable",

	history.TaskCreate:       "insufficient_funds storage_record_limit",
	history.TaskSelect:       ofResponse + " insufficient_funds not_found",
	history.TaskRespond:      ofResponse,
	history.TaskClose:        "state_conflict",
	history.ResponseUpdate:   ofResponse,
	history.ResponseWithdraw: ofResponse,

	history.PostCreate: "invalid_visibility",
	history.PostUpdate: "invalid_visibility not_found",
	history.PostDelete: "not_found",
	history.PostGet:    "not_found",
	history.CardGet:    "not_found",

	history.OwnerRequest: "rate_limited state_conflict",
	history.OwnerOpen:    "not_found", history.OwnerConfirm: "not_found",
	history.OwnerGuess: "invalid_input state_conflict", history.OwnerVerify: "invalid_input state_conflict",

	history.EventPoll:   "rate_limited",
	history.TokenRotate: "unauthorized", history.TokenUse: "unauthorized", history.TokenSocket: "",
	history.ErasureDue: "unauthorized not_found",
}

var otherModel = is(history.OrderGet, history.ContactRequest, history.ContactAccept, history.ContactBlock)

// hasModel reports whether checkOrders or checkContacts judges the answer.
func hasModel(a *history.Attempt) bool {
	return settled(a) && (rules[a.Operation].to != "" || besides(a) || otherModel(a))
}

// withoutCode are the operations whose refusals have no code.
var withoutCode = is(history.OwnerOpen, history.OwnerConfirm, history.TokenSocket)

// allowance reports whether the contract allows a refusal at that moment.
type allowance func(r *run, a *history.Attempt) bool

// moments decide when a code may come, for an operation or for all. Other checks judge codes that are not listed here.
var moments = map[string]allowance{
	"write_limited":        rated(120, func(a *history.Attempt) bool { return a.Changes }),
	"nonce_reuse":          (*run).nonceMayBeUsed,
	"contact_not_accepted": (*run).mayBeNoFriends,
	"invalid_visibility":   (*run).profileMayBeClosed,
	"upload_busy":          (*run).uploadsMayBeBusy,
	"request_timeout":      (*run).bodyMayBeLate,
	"contact_blocked":      (*run).customerMayBlock,
	"handle_unavailable":   earlier(sameSubject, history.Register),
	"idempotency_conflict": otherContent,
	"storage_record_limit": func(r *run, a *history.Attempt) bool {
		return distinct(r.by[history.TaskCreate], a.End, func(b *history.Attempt) string { return b.Start.String() }, by(a.Agent)) >= openTasks
	},
	"storage_quota_exceeded": func(r *run, a *history.Attempt) bool {
		return distinct(r.by[history.FileUpload], a.End, idOf, by(a.Agent)) >= history.FilesOfAgent
	},
	"upload_unavailable": func(r *run, a *history.Attempt) bool { // another attempt at it may have been running
		return slices.ContainsFunc(r.by[a.Operation], func(b *history.Attempt) bool {
			return b != a && b.Agent == a.Agent && b.ID == a.ID && b.Start < a.End && (unknown(b) || b.Code == "upload_busy" || b.End > a.Start)
		})
	},

	history.MessageSend + " rate_limited":    rated(60, is(history.MessageSend)),
	history.ContactRequest + " rate_limited": rated(10, is(history.ContactRequest, "burst.contact")),
	history.OwnerRequest + " rate_limited":   rated(1, is(history.OwnerRequest)),
	history.EventPoll + " rate_limited":      (*run).placesMayBeTaken,

	history.PostUpdate + " not_found": earlier(sameSubject, history.PostDelete),
	history.PostDelete + " not_found": earlier(sameSubject, history.PostDelete),
	history.TaskSelect + " not_found": func(r *run, a *history.Attempt) bool {
		return may(r.by[history.ResponseWithdraw], a.End, about(sent(a).ResponseID))
	},
	history.TaskSelect + " state_conflict":       (*run).taskMayBeOver,
	history.TaskClose + " state_conflict":        (*run).taskMayBeOver,
	history.TaskRespond + " state_conflict":      (*run).responseMayBeOver,
	history.ResponseUpdate + " state_conflict":   (*run).responseMayBeOver,
	history.ResponseWithdraw + " state_conflict": (*run).responseMayBeOver,
}

// checkRefusals judges every refusal from 400 to 422, and every 429.
func checkRefusals(r *run, f *Finding) {
	for _, a := range r.all {
		if (a.Status < http.StatusBadRequest || a.Status > http.StatusUnprocessableEntity) && a.Status != http.StatusTooManyRequests {
			continue
		}
		f.Looked++
		isListed := a.Code == "write_limited" || slices.Contains(strings.Fields(refusals[a.Operation]), a.Code) || a.Code == "" && withoutCode(a)
		allows := moments[a.Operation+" "+a.Code]
		if allows == nil {
			allows = moments[a.Code]
		}
		switch {
		case a.Changed != "" && a.Code == conflictOf(a.Operation): // checkChangedRepeats
		case strings.HasPrefix(a.Operation, "burst."), hasModel(a): // checkLimits judges a burst
		case a.Code == "not_found" && r.isGone(a): // a restore may have undone it
		case !isListed:
			f.violatedf("%s: nothing allows this refusal", Describe(a))
		case allows != nil && !allows(r, a):
			f.violatedf("%s: it was not allowed at that moment", Describe(a))
		}
	}
}

func sameSubject(a, b *history.Attempt) bool { return a.Subject == b.Subject }

// earlier allows a refusal if a similar attempt at these operations (none: any) may have acted before its end.
func earlier(alike func(a, b *history.Attempt) bool, operations ...string) allowance {
	return func(r *run, a *history.Attempt) bool {
		return may(r.of(operations...), a.End, func(b *history.Attempt) bool { return b != a && alike(a, b) })
	}
}

// otherContent allows a refusal if other content may have taken the id before.
var otherContent = earlier(func(a, b *history.Attempt) bool { return a.Agent == b.Agent && a.ID == b.ID && a.Changed != b.Changed })

// span is the period of the rates of §8.
const span = time.Minute

// rated allows a refusal if the agent may have used up a rate: if in the minute before it may have made `quota` attempts that
// count and were not refused for it. An attempt that a fault met may count twice, because the server may have restarted it.
func rated(quota int, counts fits) allowance {
	return func(r *run, a *history.Attempt) bool {
		may := 0
		for _, b := range r.all {
			end := b.End
			if unknown(b) {
				end += straggling
			}
			if b == a || b.Agent != a.Agent || !counts(b) || b.Status == http.StatusTooManyRequests && b.Code == a.Code ||
				b.Start >= a.End || end <= a.Start-span {
				continue
			}
			may++
			if r.disturbed(b.Start, b.End) {
				may++
			}
		}
		return may >= quota
	}
}

const (
	// openTasks is how many open tasks an agent may have (§8).
	openTasks = 20
	// uploadsOfAgent is how many uploads of an agent may run; uploadsWaiting is how many in total may be or wait in inspection.
	uploadsOfAgent, uploadsWaiting = 4, 10
	// abandoned is how long an upload without an answer may hold its place; givenBack is the same for an ended connection.
	abandoned, givenBack = time.Minute, 30 * time.Second
)

// beside counts the other attempts that fit and overlap an attempt. Each lingers for some time after its end.
func beside(all []*history.Attempt, a *history.Attempt, which fits, lingers func(b *history.Attempt) time.Duration) int {
	return count(all, func(b *history.Attempt) bool {
		return b != a && which(b) && b.Start <= a.End && b.End+lingers(b) >= a.Start
	})
}

// uploadsMayBeBusy reports whether the maximum of uploads may have been running, or whether the inspection took its whole time.
func (r *run) uploadsMayBeBusy(a *history.Attempt) bool {
	lingers := func(b *history.Attempt) time.Duration {
		if unknown(b) || b.Code == "upload_busy" {
			return abandoned
		}
		return 0
	}
	all := r.of(history.FileUpload, history.FileUnsound)
	return beside(all, a, by(a.Agent), lingers) >= uploadsOfAgent || beside(all, a, anything, lingers) >= uploadsWaiting ||
		a.End-a.Start >= patience || r.met(a.Start-abandoned, a.End, delaysEvents)
}

// placesMayBeTaken reports whether earlier connections of the agent may hold its places on the event channel.
func (r *run) placesMayBeTaken(a *history.Attempt) bool {
	return r.met(a.Start-abandoned, a.End, delaysEvents) || beside(r.by[history.EventPoll], a, by(a.Agent),
		func(*history.Attempt) time.Duration { return givenBack }) > 0
}

// taskOf is the id of the task that an attempt is about.
func taskOf(a *history.Attempt) string { return cmp.Or(a.Of, a.Subject) }

// endings are the attempts to select a response to a task or to close it.
func (r *run) endings(task string) []*history.Attempt {
	return slices.DeleteFunc(r.of(history.TaskSelect, history.TaskClose), func(a *history.Attempt) bool { return taskOf(a) != task })
}

func (r *run) taskMayBeOver(a *history.Attempt) bool {
	return may(r.endings(taskOf(a)), a.End, func(b *history.Attempt) bool { return b != a && (b.ID == "" || b.ID != a.ID) })
}

// responseMayBeOver reports whether a response may not be open any more, or the agent may have another one (§4.9).
func (r *run) responseMayBeOver(a *history.Attempt) bool {
	return r.taskMayBeOver(a) || r.customerMayBlock(a) || earlier(sameSubject, history.ResponseWithdraw)(r, a) ||
		a.ID != "" && otherContent(r, a)
}

// customerMayBlock reports whether the author of a response and the customer of its task may block each other.
func (r *run) customerMayBlock(a *history.Attempt) bool {
	one, customer := a.Agent, r.customers[taskOf(a)]
	if made := r.made[sent(a).ResponseID]; made != nil {
		one = made.Agent // of the response that is selected
	}
	return customer != "" && r.mayBeBlocked(one, customer, a.End)
}

// profileMayBeClosed reports whether a public post may have been refused because its author's profile may have been closed.
func (r *run) profileMayBeClosed(a *history.Attempt) bool {
	s := sent(a)
	becomes := r.lost.gone[a.Subject] || s.Visibility != nil && *s.Visibility == public ||
		s.Visibility == nil && r.product.may(a, postVisibility, a.Subject, public)
	return becomes && r.product.may(a, profileOpenness, a.Agent, closed)
}
