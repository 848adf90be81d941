package orders_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/orders"
	"stoa/graph/platform/fault"
)

// An operation reads, decides and then writes. In these tests a table is locked so that reading passes and writing waits: what the
// test does meanwhile lies between decision and write, and the answer must be the one for what is true then.
const (
	stopContacts = "LOCK TABLE contacts IN EXCLUSIVE MODE"
	stopOrders   = "LOCK TABLE orders IN EXCLUSIVE MODE"
)

func TestAcceptIsOvertaken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile string
		code      fault.Code
	}{
		"by a block":           {"UPDATE contacts SET state = 'blocked', blocked_by = requester_id", fault.FriendshipRequired},
		"by a suspension":      {"UPDATE bots SET suspended_at = now() WHERE id IN (SELECT customer_id FROM orders)", fault.ParticipantInactive},
		"by the trash":         {"UPDATE bots SET state = 'trash' WHERE id IN (SELECT contractor_id FROM orders)", fault.ParticipantInactive},
		"by a restriction":     {"UPDATE settings SET email_requirement_activated_at = now() - interval '15 days'", fault.ParticipantInactive},
		"by the deadline":      {"UPDATE orders SET deadline = now()", fault.DeadlinePassed},
		"by a cancellation":    {"UPDATE orders SET state = 'cancelled', version = 2", fault.VersionConflict},
		"by another's reserve": {"UPDATE accounts SET available_minor = 1099", fault.InsufficientFunds},
		"by nothing":           {"SELECT 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTable(t)
			card := s.offer(false)
			commit := s.holding(stopContacts + "; " + c.meanwhile)
			accept := later(s.acting(s.customer, command(card, orders.Accept)))
			s.awaitWaiting(1)
			commit()
			require.Equal(t, c.code, (<-accept).code())
			reserved := int64(0)
			if c.code == "" {
				reserved = total
			}
			require.Equal(t, reserved, s.balances(s.customer)[1])
			require.Equal(t, map[bool]int64{true: 2, false: 1}[c.code == ""], s.Count("SELECT count(*) FROM operations"))
			require.Equal(t, map[bool]int64{true: 2, false: 1}[c.code == ""], s.Count("SELECT count(*) FROM order_events"))
		})
	}
}

func TestCreateIsOvertaken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		meanwhile string
		code      fault.Code
	}{
		"by a block":        {"UPDATE contacts SET state = 'blocked', blocked_by = requester_id", fault.FriendshipRequired},
		"by a suspension":   {"UPDATE bots SET suspended_at = now()", fault.ParticipantInactive},
		"by a deletion":     {"UPDATE bots SET state = 'deleted' WHERE handle LIKE '%\\_2'", fault.NotFound},
		"by the fee rate":   {"UPDATE settings SET fee_bps = 1", fault.PriceChanged},
		"by a rate too big": {"UPDATE settings SET fee_bps = 10000", fault.PriceChanged},
		"by nothing":        {"SELECT 1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTable(t)
			terms := s.terms(true)
			commit := s.holding(stopContacts + "; " + c.meanwhile)
			create := later(func() (*orders.OrderResult, error) { return s.Orders.CreateOrder(s.customer.Ctx, terms) })
			s.awaitWaiting(1)
			commit()
			require.Equal(t, c.code, (<-create).code())
			require.Equal(t, map[bool]int64{true: 1, false: 0}[c.code == ""], s.Count("SELECT count(*) FROM orders"))
		})
	}
}

// What takes on no new obligation is overtaken by another step only.
func TestStepIsOvertaken(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	card := s.act(s.contractor, s.offer(true), orders.Accept)
	commit := s.holding(stopOrders + "; UPDATE bots SET state = 'trash'; UPDATE contacts SET state = 'blocked', blocked_by = requester_id")
	start := later(s.acting(s.contractor, command(card, orders.Start)))
	s.awaitWaiting(1)
	commit()
	started := <-start
	require.NoError(t, started.err)

	commit = s.holding(stopOrders + "; UPDATE orders SET state = 'delivered', version = 4, delivered_at = now()")
	deliver := later(s.acting(s.contractor, command(started.result.Order, orders.Deliver)))
	s.awaitWaiting(1)
	commit()
	require.Equal(t, fault.VersionConflict, (<-deliver).code())
	require.EqualValues(t, 3, s.Count("SELECT count(*) FROM operations"))
}

// Of identical requests that were all decided upon before one of them wrote, one acts and the others get its stored result; of two
// different steps one is taken.
func TestDecidedAtOnce(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	terms := s.terms(true)
	create := func() (*orders.OrderResult, error) { return s.Orders.CreateOrder(s.customer.Ctx, terms) }
	made := s.decided(stopContacts, create, create, create)
	oneActed(t, made)

	accept := s.acting(s.contractor, command(made[0].result.Order, orders.Accept))
	accepted := s.decided(stopOrders, accept, accept, accept)
	oneActed(t, accepted)

	card := accepted[0].result.Order
	steps := s.decided(stopOrders,
		s.acting(s.contractor, command(card, orders.Start)), s.acting(s.customer, command(card, orders.Dispute)))
	codes := []fault.Code{steps[0].code(), steps[1].code()}
	require.ElementsMatch(t, []fault.Code{"", fault.VersionConflict}, codes)
	require.EqualValues(t, 3, s.Count("SELECT max(version) FROM orders"))
	require.EqualValues(t, 3, s.Count("SELECT count(*) FROM order_events"))
	s.reconciled()
}

// decided runs requests of which none writes before all are decided upon.
func (s *table) decided(stop string, requests ...func() (*orders.OrderResult, error)) []answer {
	s.t.Helper()
	commit := s.holding(stop)
	waiting := make([]<-chan answer, len(requests))
	for i, request := range requests {
		waiting[i] = later(request)
	}
	s.awaitWaiting(int64(len(requests)))
	commit()
	answers := make([]answer, len(requests))
	for i, w := range waiting {
		answers[i] = <-w
	}
	return answers
}

// An operation id that serves another order by the time of the write is another request's.
func TestOperationIDIsOvertaken(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	one, other := command(s.offer(true), orders.Cancel), command(s.offer(true), orders.Cancel)
	other.OperationID = one.OperationID
	answers := s.decided(stopOrders, s.acting(s.customer, one), s.acting(s.customer, other))
	require.ElementsMatch(t, []fault.Code{"", fault.IdempotencyConflict}, []fault.Code{answers[0].code(), answers[1].code()})
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM orders WHERE state = 'cancelled'"))
}

// The time of a step is never before the step that it follows, however the clocks of two requests stand.
func TestTimesFollowVersions(t *testing.T) {
	t.Parallel()
	s := newTable(t)
	card := s.offer(true)
	s.Shift(time.Hour)
	card = s.act(s.contractor, card, orders.Accept)
	s.Shift(-time.Hour)
	card = s.act(s.contractor, s.act(s.contractor, card, orders.Start), orders.Deliver)
	s.act(s.customer, card, orders.Complete)
	require.Zero(t, s.Count(`SELECT count(*) FROM order_events e JOIN order_events f ON f.order_id = e.order_id AND f.version = e.version + 1
		WHERE f.created_at < e.created_at`))
}
