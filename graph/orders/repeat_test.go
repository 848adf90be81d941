package orders_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// body is an answer as it is sent.
func body(t *testing.T, answer *orders.OrderResult) string {
	t.Helper()
	return string(graphtest.Got(wire.Marshal(answer))(t))
}

// A repeat gets the exact earlier body, even if the order has moved on or its participants have changed.
func TestRepeatsGetStoredBody(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	terms := s.terms(true)
	made := graphtest.Got(s.Orders.CreateOrder(s.customer.Ctx, terms))(t)
	require.False(t, made.IsRepeat())
	steps := []struct {
		by     *graphtest.Agent
		action orders.Action
	}{
		{s.contractor, orders.Accept}, {s.contractor, orders.Start}, {s.contractor, orders.Deliver}, {s.customer, orders.Dispute},
		{s.customer, orders.ProposeRefund}, {s.contractor, orders.ApproveRefund},
	}
	card, inputs, bodies := made.Order, make([]orders.ActInput, len(steps)), make([]string, len(steps))
	for i, step := range steps {
		inputs[i] = command(card, step.action)
		done := graphtest.Got(s.Orders.OrderAct(step.by.Ctx, inputs[i]))(t)
		card, bodies[i] = done.Order, body(t, done)
	}
	s.Shift(100 * 24 * time.Hour)
	s.Exec("UPDATE contacts SET state = 'blocked', blocked_by = requester_id")
	s.Exec("UPDATE bots SET state = 'trash'")
	s.Exec("UPDATE settings SET fee_bps = 1")
	entries := s.Count("SELECT count(*) FROM ledger_entries")
	for range 2 {
		again := graphtest.Got(s.Orders.CreateOrder(s.customer.Ctx, terms))(t)
		require.True(t, again.IsRepeat())
		require.Equal(t, body(t, made), body(t, again))
		require.Equal(t, made.Order.ID, again.Order.ID)
		for i, step := range steps {
			done := graphtest.Got(s.Orders.OrderAct(step.by.Ctx, inputs[i]))(t)
			require.True(t, done.IsRepeat())
			require.Equal(t, bodies[i], body(t, done))
			require.Equal(t, i+2, done.Order.Version)
		}
	}
	require.Equal(t, entries, s.Count("SELECT count(*) FROM ledger_entries"))
	require.EqualValues(t, 7, s.Count("SELECT count(*) FROM operations"))
	require.EqualValues(t, 7, s.Count("SELECT count(*) FROM order_events"))
	require.EqualValues(t, 14, s.Count("SELECT count(*) FROM events WHERE kind = 'order.changed'"))
	s.requireSoundLedger()
}

// Under the same id everything else is another request: other values, an added or a missing field, another spelling of a
// text, another order, another operation.
func TestChangedRepeatsConflict(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	terms := s.terms(true)
	terms.InputAttachmentIDs = []string{}
	made := graphtest.Got(s.Orders.CreateOrder(s.customer.Ctx, terms))(t)
	for name, change := range map[string]func(*orders.CreateInput){
		"title":            func(in *orders.CreateInput) { in.Title = graphtest.Ptr("Another") },
		"white space":      func(in *orders.CreateInput) { in.Title = graphtest.Ptr(" A sonnet") },
		"deadline":         func(in *orders.CreateInput) { in.Deadline = graphtest.Ptr("2999-01-01T00:00:00Z") },
		"amount":           func(in *orders.CreateInput) { in.AmountMinor = graphtest.Ptr[int64](1001) },
		"price":            func(in *orders.CreateInput) { in.ConfirmedTotalMinor = graphtest.Ptr[int64](1) },
		"counterpart":      func(in *orders.CreateInput) { in.ContractorID = newID() },
		"without files":    func(in *orders.CreateInput) { in.InputAttachmentIDs = nil },
		"with other files": func(in *orders.CreateInput) { in.InputAttachmentIDs = []string{uuid.NewString()} },
	} {
		in := terms
		change(&in)
		graphtest.Refused(t, fault.IdempotencyConflict, name)(s.Orders.CreateOrder(s.customer.Ctx, in))
	}
	other, act := s.offer(true), command(made.Order, orders.Cancel)
	act.OperationID = terms.OperationID
	graphtest.Refused(t, fault.IdempotencyConflict)(s.Orders.OrderAct(s.customer.Ctx, act))

	act = command(made.Order, orders.Cancel)
	graphtest.OK(t)(s.Orders.OrderAct(s.customer.Ctx, act))
	for name, change := range map[string]func(*orders.ActInput){
		"version":       func(in *orders.ActInput) { *in.ExpectedVersion++ },
		"order":         func(in *orders.ActInput) { in.OrderID = other.ID.String() },
		"unknown order": func(in *orders.ActInput) { in.OrderID = uuid.NewString() },
		"action":        func(in *orders.ActInput) { in.Action = orders.Reject },
		"files":         func(in *orders.ActInput) { in.InputAttachmentIDs = []string{} },
	} {
		in := act
		in.ExpectedVersion = graphtest.Ptr(*act.ExpectedVersion)
		change(&in)
		graphtest.Refused(t, fault.IdempotencyConflict, name)(s.Orders.OrderAct(s.customer.Ctx, in))
	}
	require.Equal(t, "offered", s.read(s.customer, other.ID).Order.State)
	upper := act
	upper.OrderID = strings.ToUpper(act.OrderID)
	graphtest.OK(t, "the path is no part of the body")(s.Orders.OrderAct(s.customer.Ctx, upper))
}

// A UUID in either case is the same UUID, so a request that differs only in the case of its ids is a repeat.
func TestIDsInUpperCaseAreARepeat(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	upper := func(id *string) *string { return graphtest.Ptr(strings.ToUpper(*id)) }
	terms := s.terms(true)
	terms.InputAttachmentIDs = []string{s.File(s.customer, attachments.Order).String(), s.File(s.customer, attachments.Order).String()}
	made := graphtest.Got(s.Orders.CreateOrder(s.customer.Ctx, terms))(t)
	spelled := terms
	spelled.OperationID, spelled.ContractorID = upper(terms.OperationID), upper(terms.ContractorID)
	spelled.InputAttachmentIDs = []string{strings.ToUpper(terms.InputAttachmentIDs[0]), terms.InputAttachmentIDs[1]}
	again := graphtest.Got(s.Orders.CreateOrder(s.customer.Ctx, spelled))(t)
	require.True(t, again.IsRepeat())
	require.Equal(t, body(t, made), body(t, again))

	offered := s.terms(false)
	mine := graphtest.Got(s.Orders.CreateOrder(s.contractor.Ctx, offered))(t)
	offered.OperationID, offered.CustomerID = upper(offered.OperationID), upper(offered.CustomerID)
	again = graphtest.Got(s.Orders.CreateOrder(s.contractor.Ctx, offered))(t)
	require.Equal(t, body(t, mine), body(t, again))

	act := command(mine.Order, orders.Cancel)
	done := graphtest.Got(s.Orders.OrderAct(s.contractor.Ctx, act))(t)
	act.OperationID = upper(act.OperationID)
	again = graphtest.Got(s.Orders.OrderAct(s.contractor.Ctx, act))(t)
	require.True(t, again.IsRepeat())
	require.Equal(t, body(t, done), body(t, again))
}

func TestOperationIDsBelongToTheAgent(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	mine, theirs := s.terms(true), s.terms(false)
	theirs.OperationID = mine.OperationID
	one := graphtest.Got(s.Orders.CreateOrder(s.customer.Ctx, mine))(t)
	require.NotEqual(t, one.Order.ID, graphtest.Got(s.Orders.CreateOrder(s.contractor.Ctx, theirs))(t).Order.ID)
}

// A stored body that an earlier release wrote is returned unchanged, even if its fields differ from today's.
func TestStoredBodiesOfEarlierReleases(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	terms := s.terms(true)
	graphtest.OK(t)(s.Orders.CreateOrder(s.customer.Ctx, terms))
	old := `{"order":{"id":"` + uuid.NewString() + `","bygone":null,"version":1}}`
	s.Exec("UPDATE operations SET result = $1", []byte(old))
	again := graphtest.Got(s.Orders.CreateOrder(s.customer.Ctx, terms))(t)
	require.Equal(t, old, body(t, again))
	require.Equal(t, 1, again.Order.Version)
	require.True(t, json.Valid([]byte(body(t, again))))
}
