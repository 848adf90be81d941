package orders_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
)

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

// files makes some ready files of an agent's.
func (s *pair) files(of *graphtest.Agent, many int) []uuid.UUID {
	s.t.Helper()
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
		repeat := graphtest.Got(again())(t)
		require.True(t, repeat.IsRepeat())
	}
}

func TestUnusableFiles(t *testing.T) {
	t.Parallel()
	s := newPair(t)
	used := s.files(s.customer, 1)
	first := s.terms(true)
	first.InputAttachmentIDs = idStrings(used)
	graphtest.OK(t)(s.Orders.CreateOrder(s.customer.Ctx, first))
	pending, gone := s.files(s.customer, 1), s.files(s.customer, 1)
	s.Exec("UPDATE attachments SET status = 'pending' WHERE id = $1", pending[0])
	s.Exec("UPDATE attachments SET deleted_at = now() WHERE id = $1", gone[0])
	own := s.files(s.customer, 1)
	for name, c := range map[string]struct {
		code   fault.Code
		ids    []uuid.UUID
		change func(*orders.CreateInput)
	}{
		"unknown":            {fault.InvalidAttachment, []uuid.UUID{uuid.New()}, nil},
		"another's":          {fault.InvalidAttachment, s.files(s.contractor, 1), nil},
		"of another purpose": {fault.InvalidAttachment, []uuid.UUID{s.File(s.customer, attachments.Portfolio)}, nil},
		"unfinished":         {fault.InvalidAttachment, pending, nil},
		"without its bytes":  {fault.InvalidAttachment, gone, nil},
		"one of two":         {fault.InvalidAttachment, []uuid.UUID{own[0], uuid.New()}, nil},
		"used":               {fault.AttachmentAlreadyBound, used, nil},
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
		_, err := s.Orders.CreateOrder(s.customer.Ctx, in)
		require.Error(t, err, name)
		require.Equal(t, c.code, fault.From(err).Code, "%s: %v", name, err)
	}
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM attachments WHERE bound_id IS NOT NULL"), "a refused offer uses no file")

	card := s.act(s.contractor, s.act(s.contractor, s.offer(true), orders.Accept), orders.Start)
	for code, ids := range map[fault.Code][]uuid.UUID{fault.InvalidAttachment: own, fault.AttachmentAlreadyBound: s.bound(s.contractor)} {
		in := command(card, orders.Deliver)
		in.ResultAttachmentIDs = idStrings(ids)
		graphtest.Refused(t, code)(s.Orders.OrderAct(s.contractor.Ctx, in))
	}
}

// bound is a file of an agent's that another order of the contractor's uses.
func (s *pair) bound(of *graphtest.Agent) []uuid.UUID {
	s.t.Helper()
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
