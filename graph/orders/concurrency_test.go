package orders_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
)

// answer is the answer to one of several concurrent requests.
type answer struct {
	result *orders.OrderResult
	err    error
}

// code returns the code of the fault, or the empty string for a result.
func (a answer) code() fault.Code {
	if a.err == nil {
		return ""
	}
	return fault.From(a.err).Code
}

// concurrently runs requests concurrently and returns their answers in order.
func concurrently(requests ...func() (*orders.OrderResult, error)) []answer {
	answers := make([]answer, len(requests))
	graphtest.AtOnce(len(requests), func(i int) error {
		answers[i].result, answers[i].err = requests[i]()
		return nil
	})
	return answers
}

// actRequest is the request of an action.
func (s *pair) actRequest(by *graphtest.Agent, in orders.ActInput) func() (*orders.OrderResult, error) {
	return func() (*orders.OrderResult, error) { return s.Orders.OrderAct(by.Ctx, in) }
}

// requireOneActed requires that exactly one of several identical requests acted and the others got its body.
func requireOneActed(t *testing.T, answers []answer) {
	t.Helper()
	acted := 0
	for _, a := range answers {
		require.NoError(t, a.err)
		require.Equal(t, body(t, answers[0].result), body(t, a.result))
		if !a.result.IsRepeat() {
			acted++
		}
	}
	require.Equal(t, 1, acted)
}

func TestTwentyIdenticalRequestsAtOnce(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	requests := make([]func() (*orders.OrderResult, error), 20)
	terms := s.terms(true)
	for i := range requests {
		requests[i] = func() (*orders.OrderResult, error) { return s.Orders.CreateOrder(s.customer.Ctx, terms) }
	}
	made := concurrently(requests...)
	requireOneActed(t, made)
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM orders"))

	card := made[0].result.Order
	for _, step := range []struct {
		by     *graphtest.Agent
		action orders.Action
	}{{s.contractor, orders.Accept}, {s.contractor, orders.Start}, {s.contractor, orders.Deliver}, {s.customer, orders.Complete}} {
		in := command(card, step.action)
		for i := range requests {
			requests[i] = s.actRequest(step.by, in)
		}
		done := concurrently(requests...)
		requireOneActed(t, done)
		card = done[0].result.Order
	}
	require.Equal(t, [2]int64{500_000 - total, 0}, s.balances(s.customer))
	require.Equal(t, [2]int64{500_000 + amount, 0}, s.balances(s.contractor))
	require.EqualValues(t, 5, s.Count("SELECT count(*) FROM operations"))
	s.requireSoundLedger()
}

// If different actions on the same version run concurrently, one succeeds; the order then has another version.
func TestOneOfTwoActionsAtOnce(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	funded := func() *orders.Card { return s.act(s.contractor, s.offer(true), orders.Accept) }
	delivered := func() *orders.Card {
		return s.act(s.contractor, s.act(s.contractor, funded(), orders.Start), orders.Deliver)
	}
	offered := func() *orders.Card { return s.offer(true) }
	for _, c := range []struct {
		reach       func() *orders.Card
		by          [2]*graphtest.Agent
		one, other  orders.Action
		left, right string
	}{
		{offered, [2]*graphtest.Agent{s.contractor, s.contractor}, orders.Accept, orders.Accept, "funded", "funded"},
		{offered, [2]*graphtest.Agent{s.contractor, s.contractor}, orders.Accept, orders.Reject, "funded", "rejected"},
		{offered, [2]*graphtest.Agent{s.contractor, s.customer}, orders.Accept, orders.Cancel, "funded", "cancelled"},
		{delivered, [2]*graphtest.Agent{s.customer, s.contractor}, orders.Complete, orders.Dispute, "closed", "disputed"},
		{delivered, [2]*graphtest.Agent{s.customer, s.contractor}, orders.ProposeRefund, orders.ProposeRefund, "disputed", "disputed"},
		{funded, [2]*graphtest.Agent{s.contractor, s.customer}, orders.Start, orders.Dispute, "in_progress", "disputed"},
	} {
		for range 5 {
			card := c.reach()
			answers := concurrently(s.actRequest(c.by[0], command(card, c.one)), s.actRequest(c.by[1], command(card, c.other)))
			state := s.read(s.customer, card.ID).Order.State
			if answers[0].err == nil {
				require.Equal(t, fault.VersionConflict, answers[1].code(), "%v", answers[1].err)
				require.Equal(t, c.left, state)
			} else {
				require.Equal(t, fault.VersionConflict, answers[0].code(), "%v", answers[0].err)
				require.NoError(t, answers[1].err)
				require.Equal(t, c.right, state)
			}
		}
	}
	s.requireSoundLedger()
}

func TestAcceptsAtOnceNeverOverdraw(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	requests := make([]func() (*orders.OrderResult, error), 12)
	for i := range requests {
		in := s.terms(false)
		in.AmountMinor = graphtest.Ptr[int64](90_909) // 100,000 with the fee: the balance covers five
		made := graphtest.Got(s.Orders.CreateOrder(s.contractor.Ctx, in))(t)
		requests[i] = s.actRequest(s.customer, command(made.Order, orders.Accept))
	}
	funded := 0
	for _, a := range concurrently(requests...) {
		if a.err == nil {
			funded++
			continue
		}
		require.Equal(t, fault.InsufficientFunds, a.code(), "%v", a.err)
	}
	require.Equal(t, 5, funded)
	require.Equal(t, [2]int64{0, 500_000}, s.balances(s.customer))
	s.requireSoundLedger()
}

// Concurrent orders both ways between two agents, accepted, closed and blocked, neither deadlock nor lose money.
func TestOrdersBothWaysAtOnce(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	back := &pair{World: s.World, t: t, customer: s.contractor, contractor: s.customer}
	delivered := func(s *pair) *orders.Card {
		card := s.act(s.contractor, s.offer(true), orders.Accept)
		return s.act(s.contractor, s.act(s.contractor, card, orders.Start), orders.Deliver)
	}
	var requests []func() (*orders.OrderResult, error)
	for range 6 {
		for _, way := range []*pair{s, back} {
			requests = append(requests,
				way.actRequest(way.contractor, command(way.offer(true), orders.Accept)),
				way.actRequest(way.customer, command(delivered(way), orders.Complete)))
		}
	}
	requests = append(requests, func() (*orders.OrderResult, error) {
		_, err := s.Contacts.BlockContact(s.customer.Ctx, contacts.ActInput{ContactID: s.contact.String()})
		return nil, err
	})
	for _, a := range concurrently(requests...) {
		if a.err != nil {
			require.Equal(t, fault.FriendshipRequired, a.code(), "%v", a.err)
		}
	}
	s.requireSoundLedger()
}
