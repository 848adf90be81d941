package orders_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
)

func TestCreateNamesEveryWrongField(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	id := uuid.NewString()
	for name, c := range map[string]struct {
		field  string
		change func(*orders.CreateInput)
	}{
		"no operation id":         {"operation_id", func(in *orders.CreateInput) { in.OperationID = nil }},
		"operation id in braces":  {"operation_id", func(in *orders.CreateInput) { in.OperationID = graphtest.Ptr("{" + id + "}") }},
		"no title":                {"title", func(in *orders.CreateInput) { in.Title = nil }},
		"blank title":             {"title", func(in *orders.CreateInput) { in.Title = graphtest.Ptr(" \t ") }},
		"invisible title":         {"title", func(in *orders.CreateInput) { in.Title = graphtest.Ptr("\u200b") }},
		"title of two lines":      {"title", func(in *orders.CreateInput) { in.Title = graphtest.Ptr("a\nb") }},
		"no description":          {"description", func(in *orders.CreateInput) { in.Description = nil }},
		"NUL in description":      {"description", func(in *orders.CreateInput) { in.Description = graphtest.Ptr("a\x00") }},
		"no deadline":             {"deadline", func(in *orders.CreateInput) { in.Deadline = nil }},
		"deadline without offset": {"deadline", func(in *orders.CreateInput) { in.Deadline = graphtest.Ptr("2999-01-01T00:00:00") }},
		"deadline in the past":    {"deadline", func(in *orders.CreateInput) { in.Deadline = graphtest.Ptr("2020-01-01T00:00:00Z") }},
		"no amount":               {"amount_minor", func(in *orders.CreateInput) { in.AmountMinor = nil }},
		"amount of nothing":       {"amount_minor", func(in *orders.CreateInput) { in.AmountMinor = graphtest.Ptr[int64](0) }},
		"negative amount":         {"amount_minor", func(in *orders.CreateInput) { in.AmountMinor = graphtest.Ptr[int64](-5) }},
		"total over the largest":  {"amount_minor", func(in *orders.CreateInput) { in.AmountMinor = graphtest.Ptr[int64](909_090_909_092) }},
		"amount over any total":   {"amount_minor", func(in *orders.CreateInput) { in.AmountMinor = graphtest.Ptr[int64](1 << 62) }},
		"no party":                {"contractor_id", func(in *orders.CreateInput) { in.ContractorID = nil }},
		"both parties":            {"contractor_id", func(in *orders.CreateInput) { in.CustomerID = &id }},
		"malformed party":         {"contractor_id", func(in *orders.CreateInput) { in.ContractorID = graphtest.Ptr("x") }},
		"malformed customer":      {"customer_id", func(in *orders.CreateInput) { in.ContractorID, in.CustomerID = nil, graphtest.Ptr("x") }},
		"customer not confirming": {"confirmed_total_minor", func(in *orders.CreateInput) { in.ConfirmedTotalMinor = nil }},
		"a file twice":            {"input_attachment_ids", func(in *orders.CreateInput) { in.InputAttachmentIDs = []string{id, strings.ToUpper(id)} }},
		"a malformed file id":     {"input_attachment_ids[1]", func(in *orders.CreateInput) { in.InputAttachmentIDs = []string{id, "x"} }},
		"eleven files":            {"input_attachment_ids", func(in *orders.CreateInput) { in.InputAttachmentIDs = make([]string, 11) }},
	} {
		in := s.terms(true)
		c.change(&in)
		graphtest.RefusedField(t, fault.InvalidInput, c.field, name)(s.Orders.CreateOrder(s.customer.Ctx, in))
	}
	_, err := s.Orders.CreateOrder(s.customer.Ctx, orders.CreateInput{})
	require.Len(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, 6)
	require.Zero(t, s.Count("SELECT count(*) FROM orders"))
	require.Zero(t, s.Count("SELECT count(*) FROM operations"))
}

func TestCreateKeepsTermsAsSent(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	in := s.terms(true)
	in.Title, in.Description = graphtest.Ptr("  Ж sonnet \t"), graphtest.Ptr(" two\n\tlines ")
	in.Deadline = graphtest.Ptr("2999-12-31T23:59:59.1234567+01:00")
	in.ContractorID = graphtest.Ptr(strings.ToUpper(s.contractor.ID.String()))
	in.InputAttachmentIDs = []string{}
	made := graphtest.Got(s.Orders.CreateOrder(s.customer.Ctx, in))(t)
	require.Equal(t, "Ж sonnet", made.Order.Title)
	require.Equal(t, " two\n\tlines ", made.Order.Description)
	require.Equal(t, time.Date(2999, 12, 31, 22, 59, 59, 123456000, time.UTC), made.Order.Deadline)
	require.Equal(t, s.read(s.customer, made.Order.ID).Order, made.Order)
	require.Equal(t, []*orders.Event{{
		Action: "create", ParticipantID: s.customer.ID, State: "offered", Version: 1, CreatedAt: made.Order.CreatedAt,
	}}, s.read(s.contractor, made.Order.ID).Events)
	require.EqualValues(t, 2, s.Count("SELECT count(DISTINCT recipient_id) FROM events WHERE kind = 'order.changed'"))
}

// Each refusal of a well-formed offer, and the first one if several apply.
func TestCreateRefusals(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	stranger, gone, trashed := s.Agent(), s.Agent(), s.Agent()
	s.Befriend(s.customer, gone)
	s.Befriend(s.customer, trashed)
	s.Exec("UPDATE bots SET state = 'deleted' WHERE id = $1", gone.ID)
	s.Exec("UPDATE bots SET state = 'trash' WHERE id = $1", trashed.ID)
	pending := s.Agent()
	s.Asked(s.customer, pending)
	blocked := s.Agent()
	s.Block(blocked, s.Befriend(s.customer, blocked))

	toward := func(id uuid.UUID) func(*orders.CreateInput) {
		return func(in *orders.CreateInput) { in.ContractorID = graphtest.Ptr(id.String()) }
	}
	file := func(in *orders.CreateInput) { in.InputAttachmentIDs = []string{uuid.NewString()} }
	price := func(in *orders.CreateInput) { in.ConfirmedTotalMinor = graphtest.Ptr(total + 1) }
	past := func(in *orders.CreateInput) { in.Deadline = graphtest.Ptr("2020-01-01T00:00:00Z") }
	for name, c := range map[string]struct {
		code    fault.Code
		changes []func(*orders.CreateInput)
	}{
		"unknown agent":                   {fault.NotFound, []func(*orders.CreateInput){toward(uuid.New())}},
		"deleted agent":                   {fault.NotFound, []func(*orders.CreateInput){toward(gone.ID)}},
		"unknown file":                    {fault.InvalidAttachment, []func(*orders.CreateInput){file}},
		"oneself":                         {fault.FriendshipRequired, []func(*orders.CreateInput){toward(s.customer.ID)}},
		"stranger":                        {fault.FriendshipRequired, []func(*orders.CreateInput){toward(stranger.ID)}},
		"asked, not accepted":             {fault.FriendshipRequired, []func(*orders.CreateInput){toward(pending.ID)}},
		"blocked":                         {fault.FriendshipRequired, []func(*orders.CreateInput){toward(blocked.ID)}},
		"trashed":                         {fault.ParticipantInactive, []func(*orders.CreateInput){toward(trashed.ID)}},
		"wrong price":                     {fault.PriceChanged, []func(*orders.CreateInput){price}},
		"field before existence":          {fault.InvalidInput, []func(*orders.CreateInput){past, toward(uuid.New())}},
		"existence before files":          {fault.NotFound, []func(*orders.CreateInput){file, toward(uuid.New())}},
		"files before friendship":         {fault.InvalidAttachment, []func(*orders.CreateInput){file, toward(stranger.ID)}},
		"friendship before price":         {fault.FriendshipRequired, []func(*orders.CreateInput){price, toward(stranger.ID)}},
		"inactive participants and price": {fault.ParticipantInactive, []func(*orders.CreateInput){price, toward(trashed.ID)}},
	} {
		in := s.terms(true)
		for _, change := range c.changes {
			change(&in)
		}
		graphtest.Refused(t, c.code, name)(s.Orders.CreateOrder(s.customer.Ctx, in))
	}
	require.Zero(t, s.Count("SELECT count(*) FROM orders"))
	require.Zero(t, s.Count("SELECT count(*) FROM operations"), "failed operations store nothing")
	require.Zero(t, s.Count("SELECT count(*) FROM events WHERE kind = 'order.changed'"))
}

func TestContractorMayConfirmThePriceToo(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	in := s.terms(false)
	in.ConfirmedTotalMinor = graphtest.Ptr(total - 1)
	graphtest.Refused(t, fault.PriceChanged)(s.Orders.CreateOrder(s.contractor.Ctx, in))
	in.ConfirmedTotalMinor = graphtest.Ptr(total)
	made := graphtest.Got(s.Orders.CreateOrder(s.contractor.Ctx, in))(t)
	require.Nil(t, made.Order.ConfirmedTotalMinor, "only the customer's confirmation is kept")
}

func TestFeeRateIsFixedByTheOffer(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	s.Exec("UPDATE settings SET fee_bps = 250")
	graphtest.Refused(t, fault.PriceChanged)(s.Orders.CreateOrder(s.customer.Ctx, s.terms(true)))
	in := s.terms(true)
	in.ConfirmedTotalMinor = graphtest.Ptr[int64](1025)
	made := graphtest.Got(s.Orders.CreateOrder(s.customer.Ctx, in))(t)
	require.EqualValues(t, 250, made.Order.FeeBps)
	s.Exec("UPDATE settings SET fee_bps = 1000")
	require.EqualValues(t, 1025, s.act(s.contractor, made.Order, orders.Accept).TotalMinor, "terms stay as offered")
	require.Equal(t, [2]int64{500_000 - 1025, 1025}, s.balances(s.customer))
}

// idStrings are ids in the form a client sends.
func idStrings(ids []uuid.UUID) []string {
	list := make([]string, len(ids))
	for i, id := range ids {
		list[i] = id.String()
	}
	return list
}

// fileIDs are the ids of files on a card.
func fileIDs(files []orders.Attachment) []uuid.UUID {
	ids := make([]uuid.UUID, len(files))
	for i, f := range files {
		ids[i] = f.ID
	}
	return ids
}

// files makes some ready files of an agent.
func (s *pair) files(of *graphtest.Agent, many int) []uuid.UUID {
	ids := make([]uuid.UUID, many)
	for i := range ids {
		ids[i] = s.File(of, attachments.Order)
	}
	return ids
}

func TestFilesOfAnOrder(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	inputs, results := s.files(s.customer, 10), s.files(s.contractor, 2)
	terms := s.terms(true)
	terms.InputAttachmentIDs = idStrings(inputs)
	made := graphtest.Got(s.Orders.CreateOrder(s.customer.Ctx, terms))(t)
	require.Equal(t, inputs, fileIDs(made.Order.InputAttachments), "in the order sent")
	require.Empty(t, made.Order.ResultAttachments)
	require.Equal(t, graphtest.Ptr("secret name.png"), s.read(s.contractor, made.Order.ID).Order.InputAttachments[0].FileName, "whole, for both")

	card := s.act(s.contractor, s.act(s.contractor, made.Order, orders.Accept), orders.Start)
	require.Equal(t, inputs, fileIDs(card.InputAttachments))
	deliver := command(card, orders.Deliver)
	deliver.ResultText, deliver.ResultAttachmentIDs = nil, idStrings(results)
	done := graphtest.Got(s.Orders.OrderAct(s.contractor.Ctx, deliver))(t)
	require.Equal(t, results, fileIDs(done.Order.ResultAttachments))
	// A delivery that commits between the reads of an order and of its files: the order is as before the delivery.
	s.Exec("UPDATE orders SET delivered_at = NULL WHERE id = $1", card.ID)
	before := s.read(s.customer, card.ID).Order
	require.Equal(t, inputs, fileIDs(before.InputAttachments))
	require.Empty(t, before.ResultAttachments)
	s.Exec("UPDATE orders SET delivered_at = $2 WHERE id = $1", card.ID, done.Order.DeliveredAt)
	card = s.act(s.customer, done.Order, orders.Complete)
	require.Equal(t, inputs, fileIDs(card.InputAttachments))
	require.Equal(t, results, fileIDs(card.ResultAttachments))
	s.offer(true)
	list := graphtest.Got(s.Orders.MyOrders(s.customer.Ctx, orders.ListInput{}))(t)
	require.Empty(t, list.Orders[0].InputAttachments)
	require.Equal(t, card, list.Orders[1])

	for _, again := range []func() (*orders.OrderResult, error){
		func() (*orders.OrderResult, error) { return s.Orders.CreateOrder(s.customer.Ctx, terms) },
		s.actRequest(s.contractor, deliver),
	} {
		require.True(t, graphtest.Got(again())(t).IsRepeat())
	}
}

func TestUnusableFiles(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	used := s.files(s.customer, 1)
	first := s.terms(true)
	first.InputAttachmentIDs = idStrings(used)
	graphtest.OK(t)(s.Orders.CreateOrder(s.customer.Ctx, first))
	own := s.files(s.customer, 1)
	for name, c := range map[string]struct {
		code   fault.Code
		ids    []uuid.UUID
		change func(*orders.CreateInput)
	}{
		"unknown":    {fault.InvalidAttachment, []uuid.UUID{uuid.New()}, nil},
		"one of two": {fault.InvalidAttachment, []uuid.UUID{own[0], uuid.New()}, nil},
		"used":       {fault.AttachmentAlreadyBound, used, nil},
		"used, by a stranger": {fault.FriendshipRequired, used, func(in *orders.CreateInput) {
			in.ContractorID = graphtest.Ptr(s.Agent().ID.String())
		}},
		"usable, at a wrong price": {fault.PriceChanged, own, func(in *orders.CreateInput) { *in.ConfirmedTotalMinor++ }},
	} {
		in := s.terms(true)
		in.InputAttachmentIDs = idStrings(c.ids)
		if c.change != nil {
			c.change(&in)
		}
		graphtest.Refused(t, c.code, name)(s.Orders.CreateOrder(s.customer.Ctx, in))
	}
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM attachments WHERE bound_id IS NOT NULL"), "a refused offer uses no file")

	card := s.act(s.contractor, s.act(s.contractor, s.offer(true), orders.Accept), orders.Start)
	for code, ids := range map[fault.Code][]uuid.UUID{fault.InvalidAttachment: own, fault.AttachmentAlreadyBound: s.bound(s.contractor)} {
		in := command(card, orders.Deliver)
		in.ResultAttachmentIDs = idStrings(ids)
		graphtest.RefusedField(t, code, "result_attachment_ids[0]")(s.Orders.OrderAct(s.contractor.Ctx, in))
	}
}

// bound returns a file of an agent that another order of the contractor uses.
func (s *pair) bound(of *graphtest.Agent) []uuid.UUID {
	ids := s.files(of, 1)
	in := s.terms(false)
	in.InputAttachmentIDs = idStrings(ids)
	graphtest.OK(s.t)(s.Orders.CreateOrder(of.Ctx, in))
	return ids
}

// A request that waited for a delivery shows its files.
func TestFilesBoundWhileWaitingAreShown(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	card := s.act(s.contractor, s.act(s.contractor, s.offer(true), orders.Accept), orders.Start)
	results := s.files(s.contractor, 2)
	deliver := command(card, orders.Deliver)
	deliver.ResultAttachmentIDs = idStrings(results)
	commit := s.Hold("LOCK TABLE order_events IN EXCLUSIVE MODE")
	delivered := async(s.actRequest(s.contractor, deliver))
	s.AwaitLocks(1)
	next := *card
	next.Version++
	completed := async(s.actRequest(s.customer, command(&next, orders.Complete)))
	s.AwaitLocks(2)
	commit()
	require.NoError(t, (<-delivered).err)
	done := <-completed
	require.NoError(t, done.err)
	require.Equal(t, results, fileIDs(done.result.Order.ResultAttachments))
}
