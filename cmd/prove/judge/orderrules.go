package judge

import (
	"slices"

	"stoa/cmd/prove/history"
)

// This file is the table of §3.1, as the contract has it.

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

// parties are the handles of who takes part in an order. The author is one of the other two.
type parties struct{ author, customer, contractor string }

// party is who may do something, and the code that the other participant gets.
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

// rule is a row of the table.
type rule struct {
	from []string
	who  party
	to   string
	// outcome of the order that the operation closes.
	outcome string
	// refusal is the operation's check of the refund proposal: it returns the code if it fails, else empty.
	refusal func(o *order) string
	// outside are the codes of refusals that do not depend on the order alone. The run has friends that stay active and friends,
	// deadlines that do not pass and confirmed prices that are right, which leaves the money.
	outside []string
}

var rules = map[string]rule{
	history.OrderAccept: {from: []string{offered}, who: counterparty, to: funded, outside: []string{"insufficient_funds"}},
	history.OrderReject: {from: []string{offered}, who: counterparty, to: rejected},
	history.OrderCancel: {from: []string{offered}, who: author, to: cancelled},
	history.OrderStart:  {from: []string{funded}, who: contractor, to: inProgress},
	history.OrderDeliver: {
		from: []string{inProgress}, who: contractor, to: delivered,
	},
	history.OrderComplete: {from: []string{delivered}, who: customer, to: closed, outcome: "accepted"},
	history.OrderDispute:  {from: []string{funded, inProgress, delivered}, who: either, to: disputed},
	history.OrderProposeRefund: {
		from: []string{funded, inProgress, delivered, disputed}, who: either, to: disputed,
		refusal: func(o *order) string {
			if o.proposer() != "" {
				return "refund_proposal_exists"
			}
			return ""
		},
	},
	// Without a proposal it is state_conflict only where there could be none.
	history.OrderApproveRefund: {
		from: []string{funded, inProgress, delivered, disputed}, who: notProposer, to: closed, outcome: "refunded",
		refusal: func(o *order) string {
			if o.proposer() == "" {
				return "refund_not_proposed"
			}
			return ""
		},
	},
}

// makesOrder says that an operation makes a new order.
func makesOrder(operation string) bool {
	return operation == history.OrderCreate || operation == history.TaskSelect
}

// version is an order after one operation.
type version struct {
	operation, agent, id string
	state, outcome       string
}

// order is the state of the specification: all versions of an order, the first one being 1. It never changes.
type order struct{ versions []version }

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

func (o *order) with(v version) *order { return &order{append(slices.Clip(o.versions), v)} }

// asked is a request for an operation on an order.
type asked struct {
	operation, agent, id string
	expected             int64
}

// act returns the outcome of a request according to the contract: the number of the version in its answer and the order of that
// version, or the codes that may refuse it. With both, either may happen.
func (o *order) act(p parties, q asked) (answered int, after *order, refusals []string) {
	for i, v := range o.versions {
		switch {
		case v.agent != q.agent || v.id != q.id:
		case v.operation == q.operation && (q.expected == int64(i) || i == 0):
			return i + 1, o, nil
		default:
			return 0, o, []string{"idempotency_conflict"}
		}
	}
	if makesOrder(q.operation) {
		if len(o.versions) > 0 {
			return 0, o, nil // another order's
		}
		state := offered
		if q.operation == history.TaskSelect {
			state = funded
		}
		return 1, o.with(version{q.operation, q.agent, q.id, state, ""}), nil
	}
	r, known := rules[q.operation]
	participant := q.agent == p.customer || q.agent == p.contractor
	refuse := func(code string) (int, *order, []string) { return 0, o, []string{code} }
	switch {
	case !known || len(o.versions) == 0 || !participant:
		return refuse("not_found")
	case !r.who.is(p, o, q.agent):
		return refuse(r.who.refusal)
	case q.expected != int64(len(o.versions)):
		return refuse("version_conflict")
	case !slices.Contains(r.from, o.state()):
		return refuse("state_conflict")
	case r.refusal != nil && r.refusal(o) != "":
		return refuse(r.refusal(o))
	}
	return len(o.versions) + 1, o.with(version{q.operation, q.agent, q.id, r.to, r.outcome}), r.outside
}
