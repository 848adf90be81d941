package orders_test

import (
	"strings"
	"testing"
	"time"

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
func (a answer) code() fault.Code { return fault.CodeOf(a.err) }

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

// stopWrites locks a table, so that an operation takes its locks, reads and decides, but waits before it writes. Changes that the
// test makes meanwhile come between decision and write; the answer must be right after them. If the test changes an order or a
// friendship, the operation waits for that change before it reads.
const stopWrites = "LOCK TABLE orders IN SHARE MODE; "

func TestRetriesAfterLostRace(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	const accept, create = "accept", "create"
	for _, c := range []struct {
		what, meanwhile string // ORDER, CONTACT, CUSTOMER and CONTRACTOR are the ids
		code            fault.Code
	}{
		{accept, "UPDATE contacts SET state = 'blocked', blocked_by = requester_id WHERE id = 'CONTACT'", fault.FriendshipRequired},
		{accept, "UPDATE bots SET suspended_at = now() WHERE id = 'CUSTOMER'", fault.ParticipantInactive},
		{accept, "UPDATE bots SET state = 'trash' WHERE id = 'CONTRACTOR'", fault.ParticipantInactive},
		{accept, "UPDATE settings SET email_requirement_activated_at = now() - interval '15 days'", fault.ParticipantInactive},
		{accept, "UPDATE orders SET deadline = now() WHERE id = 'ORDER'", fault.DeadlinePassed},
		{accept, "UPDATE orders SET state = 'cancelled', version = 2 WHERE id = 'ORDER'", fault.VersionConflict},
		{accept, "UPDATE accounts SET available_minor = 1099 WHERE bot_id = 'CUSTOMER'", fault.InsufficientFunds},
		{accept, "SELECT 1", ""},
		{create, "UPDATE contacts SET state = 'blocked', blocked_by = requester_id WHERE id = 'CONTACT'", fault.FriendshipRequired},
		{create, "UPDATE bots SET suspended_at = now() WHERE id = 'CONTRACTOR'", fault.ParticipantInactive},
		{create, "UPDATE bots SET state = 'deleted' WHERE id = 'CONTRACTOR'", fault.NotFound},
		{create, "UPDATE settings SET fee_bps = 1", fault.PriceChanged},
		{create, "UPDATE settings SET fee_bps = 10000", fault.PriceChanged},
		{create, "SELECT 1", ""},
	} {
		s := pairIn(t, w)
		card, terms := s.offer(false), s.terms(true)
		request, reserved, took := s.actRequest(s.customer, command(card, orders.Accept)), total, int64(0)
		if c.what == create {
			request, reserved = func() (*orders.OrderResult, error) { return s.Orders.CreateOrder(s.customer.Ctx, terms) }, 0
		}
		if c.code == "" {
			took = 1
		}
		commit := s.Hold(stopWrites + strings.NewReplacer("ORDER", card.ID.String(), "CONTACT", s.contact.String(),
			"CUSTOMER", s.customer.ID.String(), "CONTRACTOR", s.contractor.ID.String()).Replace(c.meanwhile))
		requested := async(request)
		s.AwaitLocks(1)
		commit()
		require.Equal(t, c.code, (<-requested).code(), "%+v", c)
		require.Equal(t, reserved*took, s.balances(s.customer)[1], "%+v", c)
		require.Equal(t, took, s.Count("SELECT count(*) FROM operations WHERE bot_id = $1", s.customer.ID), "%+v", c)
		require.Equal(t, 1+took, s.Count("SELECT count(*) FROM order_events e JOIN orders o ON o.id = e.order_id WHERE customer_id = $1", s.customer.ID))
		s.Exec("UPDATE settings SET email_requirement_activated_at = NULL, fee_bps = 1000")
	}
}

// An action that takes on no new obligation loses a race only to another step.
func TestStepAfterLostRace(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	card := s.act(s.contractor, s.offer(true), orders.Accept)
	commit := s.Hold(stopWrites + "UPDATE bots SET state = 'trash'; UPDATE contacts SET state = 'blocked', blocked_by = requester_id")
	start := async(s.actRequest(s.contractor, command(card, orders.Start)))
	s.AwaitLocks(1)
	commit()
	started := <-start
	require.NoError(t, started.err)

	commit = s.Hold(stopWrites + "UPDATE orders SET state = 'delivered', version = 4, delivered_at = now()")
	deliver := async(s.actRequest(s.contractor, command(started.result.Order, orders.Deliver)))
	s.AwaitLocks(1)
	commit()
	require.Equal(t, fault.VersionConflict, (<-deliver).code())
	require.EqualValues(t, 3, s.Count("SELECT count(*) FROM operations"))
}

// decideBeforeWriting runs requests; none of them writes before all have been decided.
func (s *pair) decideBeforeWriting(requests ...func() (*orders.OrderResult, error)) []answer {
	commit := s.Hold(stopWrites)
	waiting := make([]<-chan answer, len(requests))
	for i, request := range requests {
		waiting[i] = async(request)
	}
	s.AwaitLocks(int64(len(requests)))
	commit()
	answers := make([]answer, len(requests))
	for i, w := range waiting {
		answers[i] = <-w
	}
	return answers
}

// If several requests under one operation id decide concurrently, one acts and the others are idempotency_conflict.
func TestOperationIDLosesRace(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	one, other := command(s.offer(true), orders.Cancel), command(s.offer(true), orders.Cancel)
	other.OperationID = one.OperationID
	terms := s.terms(true)
	terms.OperationID = one.OperationID
	answers := s.decideBeforeWriting(s.actRequest(s.customer, one), s.actRequest(s.customer, other),
		func() (*orders.OrderResult, error) { return s.Orders.CreateOrder(s.customer.Ctx, terms) })
	require.ElementsMatch(t, []fault.Code{"", fault.IdempotencyConflict, fault.IdempotencyConflict},
		[]fault.Code{answers[0].code(), answers[1].code(), answers[2].code()})
	require.EqualValues(t, 3, s.Count("SELECT count(*) FROM operations"), "of two offers, and one more")
}

// The time of a step is never before the step that it follows, even if the clocks of two requests differ.
func TestEventTimesFollowVersions(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	card := s.offer(true)
	s.Shift(time.Hour)
	card = s.act(s.contractor, card, orders.Accept)
	s.Shift(-time.Hour)
	card = s.act(s.contractor, s.act(s.contractor, card, orders.Start), orders.Deliver)
	s.act(s.customer, card, orders.Complete)
	require.Zero(t, s.Count(`SELECT count(*) FROM order_events e JOIN order_events f ON f.order_id = e.order_id AND f.version = e.version + 1
		WHERE f.created_at < e.created_at`))
}
