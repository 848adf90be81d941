package judge

import (
	"slices"

	"stoa/cmd/prove/history"
)

// This file is the table of §3.1, as in the contract, with the ratings (§4.7) and drafts (§2.11) of an order.

// The states.
const (
	offered    = "offered"
	funded     = "funded"
	inProgress = "in_progress"
	delivered  = "delivered"
	disputed   = "disputed"
	closed     = "closed"
	cancelled  = "cancelled"
	rejected   = "rejected"
)

var underWay = []string{funded, inProgress, delivered, disputed}

// parties are the handles of an order's participants. The author of the order is one of the other two.
type parties struct{ author, customer, contractor string }

// party is the side that may perform an operation, and the code that the other side gets.
type party struct {
	is      func(p parties, o *order, agent string) bool
	refusal string
}

var (
	author       = party{func(p parties, _ *order, agent string) bool { return agent == p.author }, "forbidden"}
	counterparty = party{func(p parties, _ *order, agent string) bool { return agent != p.author }, "counterparty_required"}
	customer     = party{func(p parties, _ *order, agent string) bool { return agent == p.customer }, "forbidden"}
	contractor   = party{func(p parties, _ *order, agent string) bool { return agent == p.contractor }, "forbidden"}
	either       = party{func(parties, *order, string) bool { return true }, "forbidden"}
	notProposer  = party{func(_ parties, o *order, agent string) bool { return o.proposer() != agent }, "counterparty_required"}
)

type rule struct {
	from []string
	who  party
	to   string
	// outcome of the order that the operation closes.
	outcome string
	// outside are the codes of refusals that do not depend on the order alone. In a run friends stay active and friends,
	// deadlines do not pass, and confirmed prices are right. So only money is left.
	outside []string
}

var rules = map[string]rule{
	history.OrderAccept:        {from: []string{offered}, who: counterparty, to: funded, outside: []string{"insufficient_funds"}},
	history.OrderReject:        {from: []string{offered}, who: counterparty, to: rejected},
	history.OrderCancel:        {from: []string{offered}, who: author, to: cancelled},
	history.OrderStart:         {from: []string{funded}, who: contractor, to: inProgress},
	history.OrderDeliver:       {from: []string{inProgress}, who: contractor, to: delivered},
	history.OrderComplete:      {from: []string{delivered}, who: customer, to: closed, outcome: "accepted"},
	history.OrderDispute:       {from: underWay[:3], who: either, to: disputed},
	history.OrderProposeRefund: {from: underWay, who: either, to: disputed},
	history.OrderApproveRefund: {from: underWay, who: notProposer, to: closed, outcome: "refunded"},
}

// makesOrder reports whether an operation makes a new order.
func makesOrder(operation string) bool {
	return operation == history.OrderCreate || operation == history.TaskSelect
}

var besides = is(history.OrderRate, history.DraftSend, history.DraftReply)

// draftsOfOrder is how many drafts an order may have.
const draftsOfOrder = 20

type version struct {
	operation, agent, id string
	state, outcome       string
}

// draft is a draft; its id is empty if its answer never came.
type draft struct {
	id      string
	replied bool
}

// order is the state of the specification: all versions of an order, the first one being 1, with the agents that have rated it and its
// drafts. It never changes.
type order struct {
	versions []version
	rated    []string
	drafts   []draft
}

func sameOrder(a, b *order) bool {
	return slices.Equal(a.versions, b.versions) && slices.Equal(a.rated, b.rated) && slices.Equal(a.drafts, b.drafts)
}

func (o *order) state() string {
	if len(o.versions) == 0 {
		return ""
	}
	return o.versions[len(o.versions)-1].state
}

func (o *order) proposer() string {
	for _, v := range o.versions {
		if v.operation == history.OrderProposeRefund {
			return v.agent
		}
	}
	return ""
}

// with returns the order after an attempt.
func (o *order) with(a *history.Attempt, state, outcome string) *order {
	after := *o
	after.versions = append(slices.Clip(o.versions), version{a.Operation, a.Agent, a.ID, state, outcome})
	return &after
}

// act returns the answers to an attempt that the contract allows: a version number with the order after it, or codes. If it
// returns both, the server may accept the attempt or refuse it.
func (o *order) act(p parties, a *history.Attempt) (answered int, after *order, refusals []string) {
	for i, v := range o.versions {
		switch {
		case v.agent != a.Agent || v.id != a.ID:
		case v.operation == a.Operation && (a.Version == int64(i) || i == 0):
			return i + 1, o, nil
		default:
			return 0, o, []string{"idempotency_conflict"}
		}
	}
	switch {
	case makesOrder(a.Operation) && len(o.versions) > 0:
		return 0, o, nil // another order's
	case a.Operation == history.OrderCreate:
		return 1, o.with(a, offered, ""), nil
	case a.Operation == history.TaskSelect:
		return 1, o.with(a, funded, ""), nil
	case besides(a) && len(o.versions) > 0:
		if after = o.beside(a); after == nil {
			return 0, o, []string{"state_conflict"}
		}
		return len(o.versions), after, nil
	}
	r, known := rules[a.Operation]
	var code string
	switch {
	case !known || len(o.versions) == 0 || a.Agent != p.customer && a.Agent != p.contractor:
		code = "not_found"
	case !r.who.is(p, o, a.Agent):
		code = r.who.refusal
	case a.Version != int64(len(o.versions)):
		code = "version_conflict"
	case !slices.Contains(r.from, o.state()):
		code = "state_conflict"
	case a.Operation == history.OrderProposeRefund && o.proposer() != "":
		code = "refund_proposal_exists"
	case a.Operation == history.OrderApproveRefund && o.proposer() == "": // state_conflict only if there could be none
		code = "refund_not_proposed"
	default:
		return len(o.versions) + 1, o.with(a, r.to, r.outcome), r.outside
	}
	return 0, o, []string{code}
}

// beside returns the order after a rating, a draft or a reply, or nil if its state has no room for that: each side rates a closed order
// once, and the newest draft of an order in progress gets one reply.
func (o *order) beside(a *history.Attempt) *order {
	after, n := *o, len(o.drafts)
	switch {
	case a.Operation == history.OrderRate && o.state() == closed && !slices.Contains(o.rated, a.Agent):
		after.rated = slices.Sorted(slices.Values(append(slices.Clip(o.rated), a.Agent)))
	case a.Operation == history.DraftSend && o.state() == inProgress && n < draftsOfOrder:
		after.drafts = append(slices.Clip(o.drafts), draft{id: a.Of}) // its answer names the draft
	case a.Operation == history.DraftReply && o.state() == inProgress && n > 0 && !o.drafts[n-1].replied &&
		(o.drafts[n-1].id == a.Of || o.drafts[n-1].id == ""):
		after.drafts = append(slices.Clone(o.drafts[:n-1]), draft{a.Of, true})
	default:
		return nil
	}
	return &after
}
