package orders_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
)

// A malformed body is refused with the names of its wrong fields, in any state of the order.
func TestActNamesEveryWrongField(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	card := s.offer(true)
	id := uuid.NewString()
	for name, c := range map[string]struct {
		action orders.Action
		field  string
		change func(*orders.ActInput)
	}{
		"no operation id":         {orders.Accept, "operation_id", func(in *orders.ActInput) { in.OperationID = nil }},
		"malformed operation id":  {orders.Accept, "operation_id", func(in *orders.ActInput) { in.OperationID = graphtest.Ptr("x") }},
		"no version":              {orders.Accept, "expected_version", func(in *orders.ActInput) { in.ExpectedVersion = nil }},
		"version below the first": {orders.Accept, "expected_version", func(in *orders.ActInput) { in.ExpectedVersion = graphtest.Ptr[int64](0) }},
		"an unexpected total":     {orders.Start, "confirmed_total_minor", func(in *orders.ActInput) { in.ConfirmedTotalMinor = graphtest.Ptr(total) }},
		"an unexpected result":    {orders.Complete, "result_text", func(in *orders.ActInput) { in.ResultText = graphtest.Ptr("x") }},
		"an unexpected reason":    {orders.Start, "reason", func(in *orders.ActInput) { in.Reason = graphtest.Ptr("x") }},
		"a reason with a result":  {orders.Deliver, "reason", func(in *orders.ActInput) { in.Reason = graphtest.Ptr("x") }},
		"no result":               {orders.Deliver, "result_text", func(in *orders.ActInput) { in.ResultText = nil }},
		"long result":             {orders.Deliver, "result_text", func(in *orders.ActInput) { in.ResultText = graphtest.Ptr(strings.Repeat("ж", 8001)) }},
		"eleven result files":     {orders.Deliver, "result_attachment_ids", func(in *orders.ActInput) { in.ResultAttachmentIDs = make([]string, 11) }},
		"a result file twice":     {orders.Deliver, "result_attachment_ids", func(in *orders.ActInput) { in.ResultAttachmentIDs = []string{id, id} }},
		"a malformed input file":  {orders.Accept, "input_attachment_ids[0]", func(in *orders.ActInput) { in.InputAttachmentIDs = []string{"x"} }},
		"no reason":               {orders.Dispute, "reason", func(in *orders.ActInput) { in.Reason = nil }},
		"empty reason":            {orders.ProposeRefund, "reason", func(in *orders.ActInput) { in.Reason = graphtest.Ptr("") }},
		"long reason":             {orders.Dispute, "reason", func(in *orders.ActInput) { in.Reason = graphtest.Ptr(strings.Repeat("ж", 2001)) }},
	} {
		in := command(card, c.action)
		c.change(&in)
		for _, by := range []*graphtest.Agent{s.customer, s.contractor} {
			graphtest.RefusedField(t, fault.InvalidInput, c.field, name)(s.Orders.OrderAct(by.Ctx, in))
		}
	}
}

func TestActOnUnknownOrder(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	card := s.offer(true)
	in := command(card, orders.Cancel)
	graphtest.Refused(t, fault.NotFound)(s.Orders.OrderAct(s.Agent().Ctx, in))

	in.OrderID = uuid.NewString()
	graphtest.Refused(t, fault.NotFound)(s.Orders.OrderAct(s.customer.Ctx, in))
	in.OrderID = strings.ReplaceAll(card.ID.String(), "-", "")
	graphtest.Refused(t, fault.InvalidID)(s.Orders.OrderAct(s.customer.Ctx, in))
	in.OrderID, in.Action = card.ID.String(), "haggle"
	graphtest.Refused(t, fault.NotFound)(s.Orders.OrderAct(s.customer.Ctx, in))
}

// The order of the checks after role, version and state.
func TestAcceptRefusals(t *testing.T) {
	t.Parallel()
	file := func(in *orders.ActInput) { in.ResultAttachmentIDs = []string{} }
	unconfirmed := func(in *orders.ActInput) { in.ConfirmedTotalMinor = nil }
	price := func(in *orders.ActInput) { in.ConfirmedTotalMinor = graphtest.Ptr(total + 1) }
	stale := func(in *orders.ActInput) { in.ExpectedVersion = graphtest.Ptr[int64](2) }
	w := graphtest.New(t)
	for name, c := range map[string]struct {
		code    fault.Code
		world   string
		changes []func(*orders.ActInput)
	}{
		"files":                    {fault.ImmutableAttachments, "", []func(*orders.ActInput){file}},
		"unconfirmed":              {fault.InvalidInput, "", []func(*orders.ActInput){unconfirmed}},
		"wrong total":              {fault.PriceChanged, "", []func(*orders.ActInput){price}},
		"blocked":                  {fault.FriendshipRequired, "block", nil},
		"inactive":                 {fault.ParticipantInactive, "trash", nil},
		"late":                     {fault.DeadlinePassed, "late", nil},
		"poor":                     {fault.InsufficientFunds, "poor", nil},
		"version before files":     {fault.VersionConflict, "", []func(*orders.ActInput){file, stale}},
		"files before the total":   {fault.ImmutableAttachments, "", []func(*orders.ActInput){file, unconfirmed}},
		"total before friendship":  {fault.InvalidInput, "block", []func(*orders.ActInput){unconfirmed}},
		"friendship before trash":  {fault.FriendshipRequired, "block trash late poor", nil},
		"trash before deadline":    {fault.ParticipantInactive, "trash late poor", nil},
		"deadline before price":    {fault.DeadlinePassed, "late poor", []func(*orders.ActInput){price}},
		"price before funds":       {fault.PriceChanged, "poor", []func(*orders.ActInput){price}},
		"version before the world": {fault.VersionConflict, "block trash late poor", []func(*orders.ActInput){stale}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := pairIn(t, w)
			card, other := s.offer(false), s.offer(true)
			for what := range strings.FieldsSeq(c.world) {
				s.preventAccept(what)
			}
			in := command(card, orders.Accept)
			for _, change := range c.changes {
				change(&in)
			}
			graphtest.Refused(t, c.code)(s.Orders.OrderAct(s.customer.Ctx, in))
			want := []string{"reject"}
			if c.world == "" {
				want = []string{"accept", "reject"}
			}
			require.Equal(t, want, names(s.read(s.customer, card.ID).Order), "the card offers what would be permitted")
			require.Zero(t, s.Count("SELECT count(*) FROM ledger_entries WHERE kind = 'reserve' AND bot_id = $1", s.customer.ID))
			require.Equal(t, "rejected", s.act(s.customer, card, orders.Reject).State)
			require.Equal(t, "cancelled", s.act(s.customer, other, orders.Cancel).State)
		})
	}
}

// preventAccept makes it impossible to accept offers of the two.
func (s *pair) preventAccept(what string) {
	switch what {
	case "block":
		s.Exec("UPDATE contacts SET state = 'blocked', blocked_by = requester_id WHERE id = $1", s.contact)
	case "trash":
		s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", s.contractor.ID)
	case "late":
		s.Exec("UPDATE orders SET deadline = now() - interval '1 second' WHERE customer_id = $1", s.customer.ID)
	case "poor":
		s.Exec("UPDATE accounts SET available_minor = $2 WHERE bot_id = $1", s.customer.ID, total-1)
	}
}

func TestContractorAcceptsWithOrWithoutTheTotal(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	in := command(s.offer(true), orders.Accept)
	in.ConfirmedTotalMinor = graphtest.Ptr(total + 1)
	graphtest.Refused(t, fault.PriceChanged)(s.Orders.OrderAct(s.contractor.Ctx, in))
	in.ConfirmedTotalMinor = nil
	done := graphtest.Got(s.Orders.OrderAct(s.contractor.Ctx, in))(t, "a failed operation does not use up its id")
	require.Equal(t, "funded", done.Order.State)
	require.Equal(t, graphtest.Ptr(total), done.Order.ConfirmedTotalMinor, "the customer's confirmation stays")
}

func TestDeliverNeedsOneOfItsFields(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	working := func() *orders.Card {
		return s.act(s.contractor, s.act(s.contractor, s.offer(true), orders.Accept), orders.Start)
	}
	unknown := command(working(), orders.Deliver)
	unknown.ResultAttachmentIDs = []string{uuid.NewString()}
	graphtest.Refused(t, fault.InvalidAttachment)(s.Orders.OrderAct(s.contractor.Ctx, unknown))
	fixed := command(working(), orders.Deliver)
	fixed.ResultAttachmentIDs, fixed.InputAttachmentIDs = unknown.ResultAttachmentIDs, []string{}
	graphtest.Refused(t, fault.ImmutableAttachments)(s.Orders.OrderAct(s.contractor.Ctx, fixed))
	early := command(s.offer(true), orders.Deliver)
	early.ResultAttachmentIDs = unknown.ResultAttachmentIDs
	graphtest.Refused(t, fault.StateConflict)(s.Orders.OrderAct(s.contractor.Ctx, early))

	for _, c := range []struct {
		text  *string
		files []string
	}{{nil, []string{}}, {graphtest.Ptr(""), nil}, {graphtest.Ptr(strings.Repeat("ж", 8000)), []string{}}} {
		in := command(working(), orders.Deliver)
		in.ResultText, in.ResultAttachmentIDs = c.text, c.files
		done := graphtest.Got(s.Orders.OrderAct(s.contractor.Ctx, in))(t)
		require.Equal(t, c.text, done.Order.ResultText)
		require.Empty(t, done.Order.ResultAttachments)
	}
}

// A ledger that contradicts an order refuses the posting; nothing of the operation is left.
func TestLedgerConflictChangesNothing(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	card := s.act(s.contractor, s.act(s.contractor, s.act(s.contractor, s.offer(true), orders.Accept), orders.Start), orders.Deliver)
	s.Exec("UPDATE accounts SET reserved_minor = 0")
	operations := s.Count("SELECT count(*) FROM operations")
	graphtest.Refused(t, fault.LedgerConflict)(s.Orders.OrderAct(s.customer.Ctx, command(card, orders.Complete)))
	require.Equal(t, "delivered", s.read(s.customer, card.ID).Order.State)
	require.Equal(t, operations, s.Count("SELECT count(*) FROM operations"))
}
