package orders_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/fault"
)

// section31 is a copy of §3.1 of the specification, not made from the code: from, operation, who, to, and the money that moves.
const section31 = `
offered     accept         recipient  funded       reserve
offered     reject         recipient  rejected     -
offered     cancel         author     cancelled    -
funded      start          contractor in_progress  -
in_progress deliver        contractor delivered    -
delivered   complete       customer   closed       payment
funded      dispute        either     disputed     -
in_progress dispute        either     disputed     -
delivered   dispute        either     disputed     -
funded      propose-refund either     disputed     -
in_progress propose-refund either     disputed     -
delivered   propose-refund either     disputed     -
disputed    propose-refund either     disputed     -
disputed    approve-refund other      closed       refund
`

// row of section31.
type row struct{ from, action, who, to, money string }

func rows() []row {
	var all []row
	for line := range strings.Lines(strings.TrimSpace(section31)) {
		f := strings.Fields(line)
		all = append(all, row{f[0], f[1], f[2], f[3], f[4]})
	}
	return all
}

// place is a state of an order, and the steps from an offer to it, as `role:action`.
type place struct {
	name, state string
	steps       []string
	// proposer is the participant that has proposed a refund.
	proposer string
}

var places = []place{
	{"offered", "offered", nil, ""},
	{"rejected", "rejected", []string{"recipient:reject"}, ""},
	{"cancelled", "cancelled", []string{"author:cancel"}, ""},
	{"funded", "funded", []string{"recipient:accept"}, ""},
	{"in progress", "in_progress", []string{"recipient:accept", "contractor:start"}, ""},
	{"delivered", "delivered", []string{"recipient:accept", "contractor:start", "contractor:deliver"}, ""},
	{"disputed", "disputed", []string{"recipient:accept", "customer:dispute"}, ""},
	{"refund proposed by the customer", "disputed", []string{"recipient:accept", "customer:propose-refund"}, "customer"},
	{"refund proposed by the contractor", "disputed", []string{"recipient:accept", "contractor:dispute", "contractor:propose-refund"}, "contractor"},
	{"paid", "closed", []string{"recipient:accept", "contractor:start", "contractor:deliver", "customer:complete"}, ""},
	{"refunded", "closed", []string{"recipient:accept", "customer:propose-refund", "contractor:approve-refund"}, "customer"},
}

// is reports whether the caller, `customer` or `contractor`, is the party who of a row, in an order by the author.
func is(who, caller, author, proposer string) bool {
	switch who {
	case "author":
		return caller == author
	case "recipient":
		return caller != author
	case "either":
		return true
	case "other":
		return caller != proposer
	default:
		return caller == who
	}
}

// expectedOutcome returns the outcome of an action according to §3.1: the code, or the row that it takes.
func expectedOutcome(p place, action, caller, author string, stale bool) (fault.Code, row) {
	var who string
	for _, r := range rows() {
		if r.action == action {
			who = r.who
		}
	}
	switch {
	case !is(who, caller, author, p.proposer):
		if who == "recipient" || who == "other" {
			return fault.CounterpartyRequired, row{}
		}
		return fault.Forbidden, row{}
	case stale:
		return fault.VersionConflict, row{}
	case action == "approve-refund" && p.proposer == "" && slices.Contains([]string{"funded", "in_progress", "delivered", "disputed"}, p.state):
		return fault.RefundNotProposed, row{}
	case action == "propose-refund" && p.proposer != "" && p.state == "disputed":
		return fault.RefundProposalExists, row{}
	}
	for _, r := range rows() {
		if r.from == p.state && r.action == action {
			return "", r
		}
	}
	return fault.StateConflict, row{}
}

// agent of a role.
func (s *pair) agent(role string) *graphtest.Agent {
	if role == "customer" {
		return s.customer
	}
	return s.contractor
}

// reach makes an order by an author and takes it to a place.
func (s *pair) reach(p place, author string) *orders.Card {
	card := s.offer(author == "customer")
	other := map[string]string{"customer": "contractor", "contractor": "customer"}[author]
	for _, one := range p.steps {
		role, action, _ := strings.Cut(one, ":")
		role = strings.NewReplacer("author", author, "recipient", other).Replace(role)
		card = s.act(s.agent(role), card, orders.Action(action))
	}
	require.Equal(s.t, p.state, card.State)
	return card
}

// balancesAfter returns the balances of customer and contractor after a posting.
func balancesAfter(kind string, before [2][2]int64) [2][2]int64 {
	after := before
	switch kind {
	case "reserve":
		after[0][0] -= total
		after[0][1] += total
	case "payment":
		after[0][1] -= total
		after[1][0] += amount
	case "refund":
		after[0][1] -= total
		after[0][0] += total
	}
	return after
}

// Every action in every state, by either role, in an order of either author, with the current and a stale version, has the
// outcome of §3.1, and the card lists exactly the permitted actions.
func TestEveryActionInEveryStateByEveryRole(t *testing.T) {
	t.Parallel()
	w := shared.World(t)
	for _, author := range []string{"customer", "contractor"} {
		for _, p := range places {
			t.Run(fmt.Sprintf("%s by the %s", p.name, author), func(t *testing.T) {
				t.Parallel()
				s := pairIn(t, w)
				idle := s.reach(p, author)
				for _, caller := range []string{"customer", "contractor"} {
					var permitted []string
					for _, action := range orders.Actions() {
						stale := command(idle, action)
						*stale.ExpectedVersion++
						code, _ := expectedOutcome(p, string(action), caller, author, true)
						graphtest.Refused(t, code)(s.Orders.OrderAct(s.agent(caller).Ctx, stale))

						code, to := expectedOutcome(p, string(action), caller, author, false)
						if code != "" {
							graphtest.Refused(t, code)(s.Orders.OrderAct(s.agent(caller).Ctx, command(idle, action)))
							continue
						}
						permitted = append(permitted, string(action))
						s.requireTransition(s.reach(p, author), action, caller, to)
					}
					detail := s.read(s.agent(caller), idle.ID)
					require.Equal(t, idle.Version, detail.Order.Version, "refused actions change nothing")
					require.Len(t, detail.Events, idle.Version)
					require.Equal(t, permitted, names(detail.Order))
				}
				s.requireSoundLedger()
			})
		}
	}
}

// requireTransition requires that an action changed an order as a row of §3.1 describes.
func (s *pair) requireTransition(card *orders.Card, action orders.Action, caller string, to row) {
	before := [2][2]int64{s.balances(s.customer), s.balances(s.contractor)}
	done := s.act(s.agent(caller), card, action)
	require.Equal(s.t, to.to, done.State)
	require.Equal(s.t, card.Version+1, done.Version)
	require.Equal(s.t, to.to == "closed", done.ClosedAt != nil)
	require.Equal(s.t, to.to == "closed", done.Outcome != nil)
	after := balancesAfter(to.money, before)
	require.Equal(s.t, after[0], s.balances(s.customer))
	require.Equal(s.t, after[1], s.balances(s.contractor))
	detail := s.read(s.agent(caller), card.ID)
	require.Equal(s.t, done, detail.Order)
	last := detail.Events[len(detail.Events)-1]
	require.Equal(s.t, orders.Event{
		Action: string(action), ParticipantID: s.agent(caller).ID, State: to.to, Version: done.Version, CreatedAt: done.UpdatedAt,
		Reason: command(card, action).Reason,
	}, *last)
	for _, recipient := range []*graphtest.Agent{s.customer, s.contractor} {
		require.EqualValues(s.t, 1, s.Count(`SELECT count(*) FROM events WHERE recipient_id = $1 AND kind = 'order.changed'
			AND convert_from(payload, 'UTF8') = $2`, recipient.ID, fmt.Sprintf(
			`{"order_id":"%s","status":"%s","version":%d,"action":"%s","actor_id":"%s"}`, card.ID, to.to, done.Version, action, s.agent(caller).ID)))
	}
}

// names of the actions that a card offers.
func names(card *orders.Card) []string {
	var all []string
	for _, a := range card.Actions {
		all = append(all, a.Name)
	}
	return all
}
