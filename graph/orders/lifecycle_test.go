package orders_test

import (
	"maps"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/bots"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/wire"
)

// An order records its steps, for an offer of either side.
func TestOrderRecordsItsSteps(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	for _, byCustomer := range []bool{true, false} {
		accepter := s.customer
		if byCustomer {
			accepter = s.contractor
		}
		card := s.offer(byCustomer)
		if byCustomer {
			require.Equal(t, graphtest.Ptr(total), card.ConfirmedTotalMinor)
			require.Equal(t, s.customer.ID, card.AuthorID)
			require.Equal(t, "customer", card.Role)
		} else {
			require.Nil(t, card.ConfirmedTotalMinor)
			require.Equal(t, s.contractor.ID, card.AuthorID)
			require.Equal(t, "contractor", card.Role)
		}
		require.Equal(t, card.CreatedAt, card.UpdatedAt)
		require.Nil(t, card.FundedAt)

		card = s.act(accepter, card, orders.Accept)
		require.Equal(t, graphtest.Ptr(total), card.ConfirmedTotalMinor, "the customer's, also if the contractor accepted")
		require.Equal(t, &card.UpdatedAt, card.FundedAt)
		card = s.act(s.contractor, card, orders.Start)
		require.Nil(t, card.DeliveredAt)
		card = s.act(s.contractor, card, orders.Deliver)
		require.Equal(t, &card.UpdatedAt, card.DeliveredAt)
		require.Equal(t, graphtest.Ptr("Shall I compare thee …"), card.ResultText)
		require.Nil(t, card.Outcome)
		require.Nil(t, card.ClosedAt)
		card = s.act(s.customer, card, orders.Complete)
		require.Equal(t, &card.UpdatedAt, card.ClosedAt)
		require.Equal(t, graphtest.Ptr("accepted"), card.Outcome)
		require.Empty(t, card.Actions)
		require.Nil(t, card.Dispute)
		require.Nil(t, card.RefundProposal)
	}
}

func TestDisputeAndRefundAreRecorded(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	card := s.act(s.contractor, s.offer(true), orders.Accept)
	card = s.act(s.customer, card, orders.Dispute)
	require.Equal(t, &orders.DisputeCard{OpenedBy: s.customer.ID, Reason: "It does not scan.", CreatedAt: card.UpdatedAt}, card.Dispute)
	opened := card.Dispute
	card = s.act(s.contractor, card, orders.ProposeRefund)
	require.Equal(t, opened, card.Dispute)
	require.Equal(t, &orders.RefundProposal{ProposedBy: s.contractor.ID, Reason: "It does not scan.", CreatedAt: card.UpdatedAt}, card.RefundProposal)
	card = s.act(s.customer, card, orders.ApproveRefund)
	require.Equal(t, graphtest.Ptr("refunded"), card.Outcome)
	require.Equal(t, &card.UpdatedAt, card.ClosedAt)
	require.NotNil(t, card.RefundProposal)

	straight := s.act(s.contractor, s.offer(true), orders.Accept)
	straight = s.act(s.customer, straight, orders.ProposeRefund)
	require.Equal(t, "disputed", straight.State)
	require.Nil(t, straight.Dispute, "none was opened")
	s.act(s.contractor, straight, orders.ApproveRefund)
	s.requireSoundLedger()
}

// The offer exactly as its two participants see it.
func TestCardOfAnOffer(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	made := s.offer(true)
	brief := func(a *graphtest.Agent) *bots.Brief {
		own := graphtest.Got(s.Bots.Me(a.Ctx))(t)
		return &bots.Brief{
			ID: a.ID, Handle: own.Bot.Handle, DisplayName: own.Bot.DisplayName,
			EncryptionPublicKey: own.Bot.EncryptionPublicKey, EncryptionKeyFingerprint: &own.Bot.EncryptionKeyFingerprint,
		}
	}
	path := "/api/v1/orders/" + made.ID.String()
	body := map[string]any{"operation_id": nil, "expected_version": 1}
	want := orders.Card{
		ID: made.ID, State: "offered", Version: 1, Title: "A sonnet", Description: "Fourteen lines.", Deadline: made.Deadline,
		AmountMinor: 1000, FeeMinor: 100, TotalMinor: 1100, FeeMode: "on_top", FeeBps: 1000,
		CustomerID: s.customer.ID, ContractorID: s.contractor.ID, AuthorID: s.customer.ID,
		Customer: brief(s.customer), Contractor: brief(s.contractor), Role: "customer", ConfirmedTotalMinor: graphtest.Ptr(total),
		CreatedAt: made.CreatedAt, UpdatedAt: made.CreatedAt,
		Actions: []wire.Action{{Name: "cancel", Method: http.MethodPost, Path: path + "/cancel", Body: body}},
	}
	require.Equal(t, &want, made)
	require.Equal(t, &want, s.read(s.customer, made.ID).Order)
	require.WithinDuration(t, s.Now().Add(24*time.Hour), made.Deadline, time.Minute)

	want.Role, want.Actions = "contractor", []wire.Action{
		{Name: "accept", Method: http.MethodPost, Path: path + "/accept", Body: body},
		{Name: "reject", Method: http.MethodPost, Path: path + "/reject", Body: body},
	}
	require.Equal(t, &want, s.read(s.contractor, made.ID).Order)
}

// The template of an action holds the required members of its body, null if only the caller knows the value.
func TestTemplatesOfActions(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	fields := func(card *orders.Card) map[string]map[string]any {
		all := make(map[string]map[string]any)
		for _, a := range card.Actions {
			all[a.Name] = a.Body
		}
		return all
	}
	with := func(version int, more map[string]any) map[string]any {
		body := map[string]any{"operation_id": nil, "expected_version": version}
		maps.Copy(body, more)
		return body
	}
	because := map[string]any{"reason": nil}
	card := s.offer(false)
	require.Equal(t, map[string]map[string]any{
		"accept": with(1, map[string]any{"confirmed_total_minor": total}), "reject": with(1, nil),
	}, fields(s.read(s.customer, card.ID).Order))
	card = s.act(s.contractor, s.act(s.customer, card, orders.Accept), orders.Start)
	require.Equal(t, map[string]map[string]any{
		"deliver": with(3, map[string]any{"result_text": nil}), "dispute": with(3, because), "propose-refund": with(3, because),
	}, fields(card))
	card = s.act(s.contractor, card, orders.ProposeRefund)
	require.Empty(t, card.Actions)
	require.Equal(t, map[string]map[string]any{"approve-refund": with(4, nil)}, fields(s.read(s.customer, card.ID).Order))
}

// A refusal for the state or the version names the current one.
func TestConflictsShowTheState(t *testing.T) {
	t.Parallel()
	s := sharedPair(t)
	card := s.offer(true)
	stale := command(card, orders.Reject)
	card = s.act(s.customer, card, orders.Cancel)
	_, err := s.Orders.OrderAct(s.contractor.Ctx, stale)
	require.Contains(t, graphtest.RequireFault(t, err, fault.VersionConflict).Text(), "The order has version 2 and is cancelled.")
	_, err = s.Orders.OrderAct(s.contractor.Ctx, command(card, orders.Reject))
	require.Equal(t, "The order is cancelled; reject is for one that is offered.", graphtest.RequireFault(t, err, fault.StateConflict).Text())
}
