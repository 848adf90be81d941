package judge

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// allowance says whether a refusal is one that the contract allows at that moment.
type allowance func(r *run, a *history.Attempt) bool

// elsewhere allows what another check judges.
func elsewhere(*run, *history.Attempt) bool { return true }

// refusals says with which codes each operation may be refused, and when. A pair that is not in it is a violation.
var refusals = map[string]map[string]allowance{
	history.MessageSend: {
		"nonce_reuse": (*run).nonceMayBeUsed, "idempotency_conflict": (*run).otherContentMayBeFirst, "rate_limited": elsewhere, "contact_not_accepted": (*run).mayBeNoFriends,
	},

	history.ContactRequest: {"contact_blocked": elsewhere, "rate_limited": elsewhere},
	history.ContactAccept:  {"contact_blocked": elsewhere, "recipient_required": elsewhere, "not_found": elsewhere},
	history.ContactBlock:   {"not_found": elsewhere},

	history.FileUpload: {
		"upload_busy": (*run).uploadsMayBeBusy, "upload_unavailable": (*run).uploadMayBeUnfinished,
		"idempotency_conflict": (*run).otherContentMayBeFirst, "storage_quota_exceeded": (*run).filesMayBeFull,
		"request_timeout": (*run).bodyMayBeLate,
	},

	history.Register: {"handle_unavailable": (*run).handleMayBeTaken},

	history.FileUnsound: {
		"invalid_file": elsewhere, "upload_busy": (*run).uploadsMayBeBusy, "storage_quota_exceeded": (*run).filesMayBeFull,
	},

	// The sequence of states (checkOrders) says when each of these may be.
	history.OrderAccept:        orderRefusals("counterparty_required", "forbidden"),
	history.OrderReject:        orderRefusals("counterparty_required", "forbidden"),
	history.OrderCancel:        orderRefusals("forbidden"),
	history.OrderStart:         orderRefusals("forbidden"),
	history.OrderDeliver:       orderRefusals("forbidden"),
	history.OrderComplete:      orderRefusals("forbidden"),
	history.OrderDispute:       orderRefusals("forbidden"),
	history.OrderProposeRefund: orderRefusals("refund_proposal_exists"),
	history.OrderApproveRefund: orderRefusals("refund_not_proposed", "counterparty_required"),
	history.TaskSelect: {
		"state_conflict": (*run).taskMayBeOver, "not_found": (*run).selectedMayBeWithdrawn, "insufficient_funds": (*run).moneyMayBeShort,
		"contact_blocked": (*run).selectedMayBeBlocked,
	},

	history.OrderRate:  {"state_conflict": (*run).mayBeRated},
	history.DraftSend:  {"state_conflict": (*run).mayNotBeInProgress},
	history.DraftReply: {"state_conflict": (*run).draftMayBeSettled},

	history.TaskRespond:      {"state_conflict": (*run).responseMayBeRefused, "contact_blocked": (*run).customerMayBlock},
	history.TaskClose:        {"state_conflict": (*run).taskMayBeOver},
	history.ResponseUpdate:   responding,
	history.ResponseWithdraw: responding,

	history.PostCreate: {"invalid_visibility": (*run).profileMayBeClosed},
	history.PostUpdate: {"invalid_visibility": (*run).profileMayBeClosed, "not_found": (*run).postMayBeDeleted},
	history.PostDelete: {"not_found": (*run).postMayBeDeleted},
	history.PostGet:    {"not_found": elsewhere},
	history.CardGet:    {"not_found": elsewhere},

	history.OwnerRequest: {"state_conflict": elsewhere, "rate_limited": (*run).askedOfLate},
	history.OwnerOpen:    {"": elsewhere, "not_found": elsewhere},
	history.OwnerConfirm: {"": elsewhere, "not_found": elsewhere},
	history.OwnerGuess:   {"invalid_input": elsewhere, "state_conflict": elsewhere},
	history.OwnerVerify:  {"invalid_input": elsewhere, "state_conflict": elsewhere},

	history.EventPoll:   {"rate_limited": (*run).placesMayBeTaken},
	history.EventStream: {"rate_limited": (*run).placesMayBeTaken},
	history.OrderGet:    {"not_found": elsewhere},

	history.TokenRotate: {"unauthorized": elsewhere},
	history.TokenUse:    {"unauthorized": elsewhere},
	history.TokenSocket: {"": elsewhere},

	history.Report: {"not_found": (*run).reportedMayBeHidden},

	history.LogCheckpoint:  {"not_found": (*run).epochMayHaveEnded},
	history.ReceiptGet:     {"not_found": elsewhere},
	history.ErasureRequest: {},
	history.ErasureGet:     {"not_found": elsewhere},
	history.ErasureDue:     {"unauthorized": elsewhere, "not_found": elsewhere},
}

// responding holds the codes for changed and withdrawn responses.
var responding = map[string]allowance{"state_conflict": (*run).responseMayBeOver, "contact_blocked": (*run).customerMayBlock}

// orderRefusals are the codes that any operation on an order may get, and further ones.
func orderRefusals(further ...string) map[string]allowance {
	codes := map[string]allowance{"insufficient_funds": (*run).moneyMayBeShort}
	for _, code := range append(further, "version_conflict", "state_conflict") {
		codes[code] = elsewhere
	}
	return codes
}

// checkRefusals judges every refusal from 400 to 422, and every 429.
func checkRefusals(r *run, f *Finding) {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		refused := a.Status >= http.StatusBadRequest && a.Status <= http.StatusUnprocessableEntity || a.Status == http.StatusTooManyRequests
		if !refused {
			continue
		}
		f.Looked++
		allowed := refusals[a.Operation][a.Code]
		switch {
		case a.Changed != "" && a.Code == conflictOf(a.Operation): // checkChangedRepeats
		case a.Code == "write_limited" && a.Changes: // checkRates
		case strings.HasPrefix(a.Operation, "burst."): // checkLimits
		case r.callsMayBeBusy(a):
		case a.Code == "not_found" && r.isGone(a): // a restore may have undone it
		case allowed == nil:
			f.violatedf("%s: nothing allows this refusal", describe(a))
		case !allowed(r, a):
			f.violatedf("%s: it was not allowed at that moment", describe(a))
		}
	}
}

// others says that another attempt fits.
func (r *run) others(a *history.Attempt, fits func(other *history.Attempt) bool) bool {
	for i := range r.Attempts {
		if other := &r.Attempts[i]; other != a && fits(other) {
			return true
		}
	}
	return false
}

const (
	// uploadsOfAgent is how many uploads of an agent may be under way, uploadsWaiting how many altogether may be inspected or wait for it.
	uploadsOfAgent, uploadsWaiting = 4, 10
	// abandoned is how long an upload without an answer may hold its place.
	abandoned = time.Minute
	// patience is how long an upload waits for its inspection.
	patience = 30 * time.Second
)

// uploadsMayBeBusy says that as many uploads may have been under way as there may be, or that the inspection took its whole time.
func (r *run) uploadsMayBeBusy(a *history.Attempt) bool {
	own, all := 0, 0
	for i := range r.Attempts {
		other := &r.Attempts[i]
		end := other.End
		if unknown(other) || other.Code == "upload_busy" {
			end += abandoned
		}
		if other == a || !is(history.FileUpload, history.FileUnsound)(other) || other.Start > a.End || end < a.Start {
			continue
		}
		all++
		if other.Agent == a.Agent {
			own++
		}
	}
	return own >= uploadsOfAgent || all >= uploadsWaiting || a.End-a.Start >= patience || r.faultWithin(a, abandoned)
}

// faultWithin says that a fault was in force during an attempt or some time before it.
func (r *run) faultWithin(a *history.Attempt, before time.Duration) bool {
	return slices.ContainsFunc(r.Faults, func(fault history.Fault) bool {
		return !fault.Mail && fault.Start <= a.End && fault.End+before >= a.Start
	})
}

// uploadMayBeUnfinished says that another attempt at the same upload may have been under way.
func (r *run) uploadMayBeUnfinished(a *history.Attempt) bool {
	return r.others(a, func(other *history.Attempt) bool {
		return other.Operation == a.Operation && other.Agent == a.Agent && other.ID == a.ID && other.Start < a.End &&
			(unknown(other) || other.Code == "upload_busy" || other.End > a.Start)
	})
}

// otherContentMayBeFirst says that other content may have taken the id before.
func (r *run) otherContentMayBeFirst(a *history.Attempt) bool {
	return r.others(a, func(other *history.Attempt) bool {
		return other.Agent == a.Agent && other.ID == a.ID && other.Changed != a.Changed && mayHaveActed(other) && other.Start < a.End
	})
}

// filesMayBeFull says that an agent may have as many files as it may.
func (r *run) filesMayBeFull(a *history.Attempt) bool {
	ids := make(map[string]bool)
	for i := range r.Attempts {
		other := &r.Attempts[i]
		if other.Operation == history.FileUpload && other.Agent == a.Agent && other.ID != a.ID && mayHaveActed(other) && other.Start < a.End {
			ids[other.ID] = true
		}
	}
	return len(ids) >= history.FilesOfAgent
}

func (r *run) taskMayBeOver(a *history.Attempt) bool {
	task := a.Of
	if task == "" {
		task = a.Subject
	}
	return r.product.mayBeOver(task, a.End, a.ID) || slices.ContainsFunc(r.product.endings[task], func(other *history.Attempt) bool {
		return other != a && other.ID != a.ID && mayHaveActed(other) && other.Start < a.End
	})
}

// responseMayBeRefused: the task may be over, or have another response of the agent (§4.9).
func (r *run) responseMayBeRefused(a *history.Attempt) bool {
	return r.taskMayBeOver(a) || r.otherContentMayBeFirst(a)
}

func (r *run) responseMayBeOver(a *history.Attempt) bool {
	return r.product.mayBeOver(a.Of, a.End, "") || r.product.mayBeWithdrawn(a.Subject, a.End) || r.customerMayBlock(a)
}

func (r *run) selectedMayBeBlocked(a *history.Attempt) bool {
	made := r.announced.responses[sent(a).ResponseID]
	return made != nil && r.mayBeBlocked(made.Agent, a.Agent, a)
}

func (r *run) selectedMayBeWithdrawn(a *history.Attempt) bool {
	return r.product.mayBeWithdrawn(sent(a).ResponseID, a.End)
}

// customerMayBlock says that the agent may be blocked by the customer of a task, or block it.
func (r *run) customerMayBlock(a *history.Attempt) bool {
	task := a.Of
	if task == "" {
		task = a.Subject
	}
	customer := r.customers[task]
	return customer != "" && r.mayBeBlocked(a.Agent, customer, a)
}

// mayBeRated says that the order may not be closed yet, or that the agent may have rated it under another id.
func (r *run) mayBeRated(a *history.Attempt) bool {
	return !r.isClosed(a.Subject, a.Start) || r.others(a, func(other *history.Attempt) bool {
		return other.Operation == history.OrderRate && other.Agent == a.Agent && other.Subject == a.Subject && other.ID != a.ID &&
			mayHaveActed(other) && other.Start < a.End
	})
}

// closings are the operations that close an order.
var closings = is(history.OrderComplete, history.OrderApproveRefund)

// isClosed says that an order was certainly closed at a moment, mayBeClosed that it may have been.
func (r *run) isClosed(order string, at time.Duration) bool {
	return slices.ContainsFunc(r.ofOrders[order], func(q *request) bool {
		a := q.succeeded()
		return closings(q.attempts[0]) && a != nil && a.End < at
	})
}

func (r *run) mayBeClosed(order string, at time.Duration) bool {
	return slices.ContainsFunc(r.ofOrders[order], func(q *request) bool {
		return closings(q.attempts[0]) && slices.ContainsFunc(q.attempts, func(a *history.Attempt) bool { return mayHaveActed(a) && a.Start < at })
	})
}

// mayNotBeInProgress says that an order may have left its state in which there are drafts, or have all drafts that it may.
func (r *run) mayNotBeInProgress(a *history.Attempt) bool {
	const drafts = 20
	sent := make(map[string]bool)
	left := r.others(a, func(other *history.Attempt) bool {
		if other.Operation == history.DraftSend && other.Subject == a.Subject && mayHaveActed(other) && other.Start < a.End {
			sent[other.ID] = true
		}
		return slices.Contains(rules[other.Operation].from, inProgress) && other.Subject == a.Subject &&
			mayHaveActed(other) && other.Start < a.End
	})
	return left || len(sent) >= drafts
}

// draftMayBeSettled says that a draft may have had its reply, or not be the newest any more, or that the order may have gone on.
func (r *run) draftMayBeSettled(a *history.Attempt) bool {
	return r.mayNotBeInProgress(a) || r.others(a, func(other *history.Attempt) bool {
		replied := other.Operation == history.DraftReply && other.Of == a.Of && other.ID != a.ID
		newer := other.Operation == history.DraftSend && other.Subject == a.Subject && other.End > r.firstSeen(a.Of)
		return (replied || newer) && mayHaveActed(other) && other.Start < a.End
	})
}

// firstSeen is when a draft was first answered.
func (r *run) firstSeen(draft string) time.Duration {
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if (a.Operation == history.DraftSend || a.Operation == history.DraftList) && strings.Contains(string(a.Body), draft) {
			return a.Start
		}
	}
	return 0
}

// profileMayBeClosed says that a public post may have been refused because its author's profile may have been closed.
func (r *run) profileMayBeClosed(a *history.Attempt) bool {
	s, was := sent(a), r.product.visibility[a.Subject]
	becomes := r.lost.gone[a.Subject] || s.Visibility != nil && *s.Visibility == public || s.Visibility == nil && was.may(a, public)
	return becomes && r.product.openness[a.Agent].may(a, closed)
}

// reportedMayBeHidden says that the reported agent's profile may have been closed. The agent may have no contact with it.
func (r *run) reportedMayBeHidden(a *history.Attempt) bool {
	return r.product.openness[a.Subject].may(a, closed)
}

// handleMayBeTaken says that another registration may have taken the handle.
func (r *run) handleMayBeTaken(a *history.Attempt) bool {
	return r.others(a, func(other *history.Attempt) bool {
		return other.Operation == history.Register && other.Subject == a.Subject && mayHaveActed(other) && other.Start < a.End
	})
}

func (r *run) postMayBeDeleted(a *history.Attempt) bool {
	return r.others(a, func(other *history.Attempt) bool {
		return other.Operation == history.PostDelete && other.Subject == a.Subject && mayHaveActed(other) && other.Start < a.End
	})
}

// askedOfLate says that the agent may have asked for a code of the same address within a minute.
func (r *run) askedOfLate(a *history.Attempt) bool {
	return slices.ContainsFunc(r.ofOwners[history.OwnerRequest], func(other *history.Attempt) bool {
		return other != a && other.Agent == a.Agent && mayHaveActed(other) && other.Start < a.End && other.End > a.Start-span-straggling
	})
}

// placesMayBeTaken says that earlier connections of the agent may hold its places on the event channel.
func (r *run) placesMayBeTaken(a *history.Attempt) bool {
	const givenBack = 30 * time.Second
	return r.faultWithin(a, abandoned) || r.others(a, func(other *history.Attempt) bool {
		return (other.Operation == history.EventPoll || other.Operation == history.EventStream) && other.Agent == a.Agent && other.Start < a.End && other.End > a.Start-givenBack
	})
}
