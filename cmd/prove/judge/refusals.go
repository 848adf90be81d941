package judge

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// allowance reports whether a refusal is one that the contract allows at that moment.
type allowance func(r *run, a *history.Attempt) bool

// elsewhere allows what another check judges.
func elsewhere(*run, *history.Attempt) bool { return true }

// The ways in which one attempt may be like another.
type alike func(a, b *history.Attempt) bool

func sameAgent(a, b *history.Attempt) bool   { return a.Agent == b.Agent }
func sameSubject(a, b *history.Attempt) bool { return a.Subject == b.Subject }
func sameOf(a, b *history.Attempt) bool      { return a.Of == b.Of }
func otherID(a, b *history.Attempt) bool     { return a.ID != b.ID }

// earlier allows a refusal if another attempt at an operation may have acted before its end that is alike in all ways.
func earlier(operation string, ways ...alike) allowance {
	return func(r *run, a *history.Attempt) bool {
		return may(r.by[operation], a.End, func(b *history.Attempt) bool {
			return b != a && !slices.ContainsFunc(ways, func(way alike) bool { return !way(a, b) })
		})
	}
}

// anyOf allows what one of several allows.
func anyOf(allowances ...allowance) allowance {
	return func(r *run, a *history.Attempt) bool {
		return slices.ContainsFunc(allowances, func(allows allowance) bool { return allows(r, a) })
	}
}

// hidden allows a refusal if the profile of the agent that it is about may have been closed.
func hidden(r *run, a *history.Attempt) bool { return r.product.openness[a.Subject].may(a, closed) }

// codes are the codes that may refuse an operation, with the moments at which they may. A code without a moment of its own is judged by
// another check.
type codes map[string]allowance

// and returns the codes with further ones, which are judged by another check.
func (c codes) and(further ...string) codes {
	all := codes{}
	maps.Copy(all, c)
	for _, code := range further {
		all[code] = elsewhere
	}
	return all
}

// orderCodes are the codes that may refuse any operation on an order: the sequence of its states (checkOrders) says when each may. responseCodes
// are those of changed and withdrawn responses, uploadCodes those of files that lack a place.
var (
	orderCodes    = codes{"insufficient_funds": (*run).moneyMayBeShort}.and("version_conflict", "state_conflict")
	responseCodes = codes{
		"state_conflict":  anyOf((*run).taskMayBeOver, earlier(history.ResponseWithdraw, sameSubject), (*run).customerMayBlock),
		"contact_blocked": (*run).customerMayBlock,
	}
	uploadCodes = codes{"upload_busy": (*run).uploadsMayBeBusy, "storage_quota_exceeded": (*run).filesMayBeFull}
	postIsGone  = earlier(history.PostDelete, sameSubject)
	places      = codes{"rate_limited": (*run).placesMayBeTaken}
)

// openTasks is how many open tasks an agent may have (§8).
const openTasks = 20

// refusals says with which codes each operation may be refused, and when. A pair that is not in it is a violation: the description of the
// API has more codes, which these agents never cause.
var refusals = map[string]codes{
	history.MessageSend: codes{
		"nonce_reuse": (*run).nonceMayBeUsed, "idempotency_conflict": (*run).otherContentMayBeFirst, "contact_not_accepted": (*run).mayBeNoFriends,
	}.and("rate_limited"),

	history.ContactRequest: codes{}.and("contact_blocked", "rate_limited"),
	history.ContactAccept:  codes{}.and("contact_blocked", "recipient_required", "not_found"),
	history.ContactBlock:   codes{}.and("not_found"),

	history.FileUpload: {
		"upload_busy": (*run).uploadsMayBeBusy, "storage_quota_exceeded": (*run).filesMayBeFull, "upload_unavailable": (*run).uploadMayBeUnfinished,
		"idempotency_conflict": (*run).otherContentMayBeFirst, "request_timeout": (*run).bodyMayBeLate,
	},
	history.FileUnsound: uploadCodes.and("invalid_file"),
	history.Register:    {"handle_unavailable": earlier(history.Register, sameSubject)},

	history.OrderAccept:        orderCodes.and("counterparty_required", "forbidden"),
	history.OrderReject:        orderCodes.and("counterparty_required", "forbidden"),
	history.OrderCancel:        orderCodes.and("forbidden"),
	history.OrderStart:         orderCodes.and("forbidden"),
	history.OrderDeliver:       orderCodes.and("forbidden"),
	history.OrderComplete:      orderCodes.and("forbidden"),
	history.OrderDispute:       orderCodes.and("forbidden"),
	history.OrderProposeRefund: orderCodes.and("refund_proposal_exists"),
	history.OrderApproveRefund: orderCodes.and("refund_not_proposed", "counterparty_required"),
	history.OrderGet:           codes{}.and("not_found"),
	history.OrderRate:          {"state_conflict": anyOf(notYetClosed, earlier(history.OrderRate, sameAgent, sameSubject, otherID))},
	history.DraftSend:          {"state_conflict": (*run).mayNotBeInProgress},
	history.DraftReply:         {"state_conflict": anyOf((*run).mayNotBeInProgress, earlier(history.DraftReply, sameOf, otherID), (*run).newerDraft)},

	history.TaskCreate: {
		"insufficient_funds": (*run).moneyMayBeShort,
		"storage_record_limit": func(r *run, a *history.Attempt) bool {
			before := 0
			for _, b := range r.by[history.TaskCreate] {
				if b != a && sameAgent(a, b) && mayHaveActed(b) && b.Start < a.End {
					before++
				}
			}
			return before >= openTasks
		},
	},
	history.TaskSelect: {
		"state_conflict": (*run).taskMayBeOver, "insufficient_funds": (*run).moneyMayBeShort, "contact_blocked": (*run).selectedMayBeBlocked,
		"not_found": func(r *run, a *history.Attempt) bool {
			return may(r.by[history.ResponseWithdraw], a.End, about(sent(a).ResponseID))
		},
	},
	history.TaskRespond: { // the agent may have another response (§4.9)
		"state_conflict": anyOf((*run).taskMayBeOver, (*run).otherContentMayBeFirst), "contact_blocked": (*run).customerMayBlock,
	},
	history.TaskClose:        {"state_conflict": (*run).taskMayBeOver},
	history.ResponseUpdate:   responseCodes,
	history.ResponseWithdraw: responseCodes,

	history.PostCreate: {"invalid_visibility": (*run).profileMayBeClosed},
	history.PostUpdate: {"invalid_visibility": (*run).profileMayBeClosed, "not_found": postIsGone},
	history.PostDelete: {"not_found": postIsGone},
	history.PostGet:    codes{}.and("not_found"),
	history.CardGet:    codes{}.and("not_found"),
	history.Report:     {"not_found": hidden}, // the agent may have no contact with it

	history.OwnerRequest: codes{"rate_limited": (*run).askedOfLate}.and("state_conflict"),
	history.OwnerOpen:    codes{}.and("", "not_found"),
	history.OwnerConfirm: codes{}.and("", "not_found"),
	history.OwnerGuess:   codes{}.and("invalid_input", "state_conflict"),
	history.OwnerVerify:  codes{}.and("invalid_input", "state_conflict"),

	history.EventPoll: places, history.EventStream: places,
	history.TokenRotate: codes{}.and("unauthorized"), history.TokenUse: codes{}.and("unauthorized"), history.TokenSocket: codes{}.and(""),

	history.LogCheckpoint: {"not_found": func(r *run, a *history.Attempt) bool { // a restore may have ended the epoch that was read
		return slices.ContainsFunc(r.Losses, func(loss history.Loss) bool { return loss.Restored < a.End })
	}},
	history.ReceiptGet: codes{}.and("not_found"),
	history.ErasureGet: codes{}.and("not_found"),
	history.ErasureDue: codes{}.and("unauthorized", "not_found"),
}

// checkRefusals judges every refusal from 400 to 422, and every 429.
func checkRefusals(r *run, f *Finding) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if (a.Status < http.StatusBadRequest || a.Status > http.StatusUnprocessableEntity) && a.Status != http.StatusTooManyRequests {
			continue
		}
		f.Looked++
		allows := refusals[a.Operation][a.Code]
		switch {
		case a.Changed != "" && a.Code == conflictOf(a.Operation): // checkChangedRepeats
		case a.Code == "write_limited" && a.Changes: // checkRates
		case strings.HasPrefix(a.Operation, "burst."): // checkLimits
		case r.callsMayBeBusy(a):
		case a.Code == "not_found" && r.isGone(a): // a restore may have undone it
		case allows == nil:
			f.violatedf("%s: nothing allows this refusal", Describe(a))
		case !allows(r, a):
			f.violatedf("%s: it was not allowed at that moment", Describe(a))
		}
	}
}

const (
	// uploadsOfAgent is how many uploads of an agent may be under way, uploadsWaiting how many altogether may be inspected or wait for it.
	uploadsOfAgent, uploadsWaiting = 4, 10
	// callsOfAgent is how many calls of tools an agent may have under way at a process (§8).
	callsOfAgent = 4
	// abandoned is how long an upload without an answer may hold its place, givenBack how long a connection that has ended may.
	abandoned, givenBack = time.Minute, 30 * time.Second
)

// beside are the other attempts that were under way at some moment of an attempt. One that fits lingers for some time after its end.
func beside(all []*history.Attempt, a *history.Attempt, lingers fits, later time.Duration) (found []*history.Attempt) {
	for _, b := range all {
		end := b.End
		if lingers(b) {
			end += later
		}
		if b != a && b.Start <= a.End && end >= a.Start {
			found = append(found, b)
		}
	}
	return found
}

// uploadsMayBeBusy reports whether as many uploads may have been under way as there may be, or that the inspection took its whole time.
func (r *run) uploadsMayBeBusy(a *history.Attempt) bool {
	isUndecided := func(b *history.Attempt) bool { return unknown(b) || b.Code == "upload_busy" }
	all := beside(r.of(history.FileUpload, history.FileUnsound), a, isUndecided, abandoned)
	own := slices.DeleteFunc(slices.Clone(all), func(b *history.Attempt) bool { return b.Agent != a.Agent })
	return len(own) >= uploadsOfAgent || len(all) >= uploadsWaiting || a.End-a.Start >= patience || r.faultWithin(a, abandoned)
}

// uploadMayBeUnfinished reports whether another attempt at the same upload may have been under way.
func (r *run) uploadMayBeUnfinished(a *history.Attempt) bool {
	return slices.ContainsFunc(r.by[a.Operation], func(b *history.Attempt) bool {
		return b != a && b.Agent == a.Agent && b.ID == a.ID && b.Start < a.End && (unknown(b) || b.Code == "upload_busy" || b.End > a.Start)
	})
}

// callsMayBeBusy reports whether as many calls of the agent's tools may have been under way as there may be.
func (r *run) callsMayBeBusy(a *history.Attempt) bool {
	isCall := func(b *history.Attempt) bool { return b.Tool || b.Operation == history.ToolCall }
	if !isCall(a) || a.Code != "rate_limited" {
		return false
	}
	var calls []*history.Attempt
	for i := range r.Attempts {
		if b := &r.Attempts[i]; b.Agent == a.Agent && isCall(b) {
			calls = append(calls, b)
		}
	}
	return len(beside(calls, a, unknown, straggling)) >= callsOfAgent
}

// placesMayBeTaken reports whether earlier connections of the agent may hold its places on the event channel.
func (r *run) placesMayBeTaken(a *history.Attempt) bool {
	always := func(*history.Attempt) bool { return true }
	return r.faultWithin(a, abandoned) || slices.ContainsFunc(beside(r.of(history.EventPoll, history.EventStream), a, always, givenBack), by(a.Agent))
}

// otherContentMayBeFirst reports whether other content may have taken the id before.
func (r *run) otherContentMayBeFirst(a *history.Attempt) bool {
	return slices.ContainsFunc(r.Attempts, func(b history.Attempt) bool {
		return b.Agent == a.Agent && b.ID == a.ID && b.Changed != a.Changed && mayHaveActed(&b) && b.Start < a.End
	})
}

// filesMayBeFull reports whether an agent may have as many files as it may.
func (r *run) filesMayBeFull(a *history.Attempt) bool {
	others := func(b *history.Attempt) bool { return b.Agent == a.Agent && b.ID != a.ID }
	return distinct(r.by[history.FileUpload], a.End, idOf, others) >= history.FilesOfAgent
}

// taskOf is the id of the task that an attempt is about.
func taskOf(a *history.Attempt) string {
	if a.Of != "" {
		return a.Of
	}
	return a.Subject
}

// endings are the attempts to select a response to a task or to close it.
func (r *run) endings(task string) []*history.Attempt {
	return slices.DeleteFunc(r.of(history.TaskSelect, history.TaskClose), func(a *history.Attempt) bool { return taskOf(a) != task })
}

func (r *run) taskMayBeOver(a *history.Attempt) bool {
	return may(r.endings(taskOf(a)), a.End, func(b *history.Attempt) bool { return b != a && (b.ID == "" || b.ID != a.ID) })
}

func (r *run) selectedMayBeBlocked(a *history.Attempt) bool {
	made := r.made[sent(a).ResponseID]
	return made != nil && r.mayBeBlocked(made.Agent, a.Agent, a.End)
}

// customerMayBlock reports whether the agent may be blocked by the customer of a task, or block it.
func (r *run) customerMayBlock(a *history.Attempt) bool {
	customer := r.customers[taskOf(a)]
	return customer != "" && r.mayBeBlocked(a.Agent, customer, a.End)
}

// mayBeClosed reports whether an order may have been closed before a moment, notYetClosed whether it may still have been open.
func (r *run) mayBeClosed(order string, before time.Duration) bool {
	return may(r.closings(order), before, about(order))
}

func notYetClosed(r *run, a *history.Attempt) bool {
	return !did(r.closings(a.Subject), a.Start, about(a.Subject))
}

// closings are the attempts to close an order.
func (r *run) closings(order string) (all []*history.Attempt) {
	for _, q := range r.ofOrders[order] {
		if is(history.OrderComplete, history.OrderApproveRefund)(q.attempts[0]) {
			all = append(all, q.attempts...)
		}
	}
	return all
}

// mayNotBeInProgress reports whether an order may have left its state in which there are drafts, or have all drafts that it may.
func (r *run) mayNotBeInProgress(a *history.Attempt) bool {
	const drafts = 20
	for operation, rule := range rules {
		if slices.Contains(rule.from, inProgress) && earlier(operation, sameSubject)(r, a) {
			return true
		}
	}
	return distinct(r.by[history.DraftSend], a.End, idOf, about(a.Subject)) >= drafts
}

// newerDraft allows the refusal of a reply to a draft that may not be the newest any more.
func (r *run) newerDraft(a *history.Attempt) bool {
	seen := time.Duration(0) // when the draft was first answered
	for i := range r.Attempts {
		if b := &r.Attempts[i]; is(history.DraftSend, history.DraftList)(b) && strings.Contains(string(b.Body), a.Of) {
			seen = b.Start
			break
		}
	}
	return may(r.by[history.DraftSend], a.End, func(b *history.Attempt) bool { return b.Subject == a.Subject && b.End > seen })
}

// profileMayBeClosed reports whether a public post may have been refused because its author's profile may have been closed.
func (r *run) profileMayBeClosed(a *history.Attempt) bool {
	s := sent(a)
	becomes := r.lost.gone[a.Subject] || s.Visibility != nil && *s.Visibility == public ||
		s.Visibility == nil && r.product.visibility[a.Subject].may(a, public)
	return becomes && r.product.openness[a.Agent].may(a, closed)
}

// askedOfLate reports whether the agent may have asked for a code of the same address within a minute.
func (r *run) askedOfLate(a *history.Attempt) bool {
	return may(r.by[history.OwnerRequest], a.End, func(b *history.Attempt) bool {
		return b != a && b.Agent == a.Agent && b.End > a.Start-span-straggling
	})
}
