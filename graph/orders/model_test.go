package orders_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/wallet"
)

// modelOrder is an order in the plain model; agents are indices.
type modelOrder struct {
	id                           uuid.UUID
	customer, contractor, author int
	place                        place
	version                      int
	fee, total                   int64
	late                         bool
}

// role of an agent in an order, empty for a third party.
func (d *modelOrder) role(agent int) string {
	switch agent {
	case d.customer:
		return "customer"
	case d.contractor:
		return "contractor"
	default:
		return ""
	}
}

// done is an operation that took effect: how to repeat it, and its body.
type done struct {
	again   func() (*orders.OrderResult, error)
	changed func() (*orders.OrderResult, error)
	body    string
}

// model is the plain model of three agents; the first is a friend of the other two.
type model struct {
	w       *graphtest.World
	agents  []*graphtest.Agent
	contact map[[2]int]uuid.UUID
	blocked map[[2]int]bool
	trashed map[int]bool
	money   [][2]int64
	feeBps  int64
	all     []*modelOrder
	done    []done
}

func newModel(w *graphtest.World) *model {
	m := &model{
		w: w, agents: []*graphtest.Agent{w.Agent(), w.Agent(), w.Agent()}, blocked: make(map[[2]int]bool), trashed: make(map[int]bool),
		money: [][2]int64{{wallet.GrantMinor, 0}, {wallet.GrantMinor, 0}, {wallet.GrantMinor, 0}}, feeBps: 1000,
	}
	w.Exec("UPDATE settings SET fee_bps = 1000")
	m.contact = map[[2]int]uuid.UUID{{0, 1}: w.Befriend(m.agents[0], m.agents[1]), {0, 2}: w.Befriend(m.agents[2], m.agents[0])}
	return m
}

func (m *model) friends(one, other int) bool {
	pair := [2]int{min(one, other), max(one, other)}
	_, known := m.contact[pair]
	return known && !m.blocked[pair]
}

func (m *model) active(agents ...int) bool {
	return !slices.ContainsFunc(agents, func(a int) bool { return m.trashed[a] })
}

// refusal returns the model's refusal of an action on an order, after the checks of role, version and state.
func (m *model) refusal(d *modelOrder, action orders.Action, caller int, confirmed *int64) fault.Code {
	if action != orders.Accept {
		return ""
	}
	switch {
	case caller == d.customer && confirmed == nil:
		return fault.InvalidInput
	case !m.friends(d.customer, d.contractor):
		return fault.FriendshipRequired
	case !m.active(d.customer, d.contractor):
		return fault.ParticipantInactive
	case d.late:
		return fault.DeadlinePassed
	case confirmed != nil && *confirmed != d.total:
		return fault.PriceChanged
	case m.money[d.customer][0] < d.total:
		return fault.InsufficientFunds
	default:
		return ""
	}
}

// expect returns the required outcome of an action.
func (m *model) expect(d *modelOrder, action orders.Action, caller int, confirmed *int64, stale bool) (fault.Code, row) {
	role := d.role(caller)
	if role == "" {
		return fault.NotFound, row{}
	}
	code, to := expectedOutcome(d.place, string(action), role, d.role(d.author), stale)
	if code == "" {
		code = m.refusal(d, action, caller, confirmed)
	}
	return code, to
}

// apply moves the money of an action.
func (m *model) apply(d *modelOrder, action orders.Action, caller int, to row) {
	if action == orders.ProposeRefund {
		d.place.proposer = d.role(caller)
	}
	d.place.state = to.to
	d.version++
	switch to.money {
	case "reserve":
		m.money[d.customer][0] -= d.total
		m.money[d.customer][1] += d.total
	case "payment":
		m.money[d.customer][1] -= d.total
		m.money[d.contractor][0] += d.total - d.fee
	case "refund":
		m.money[d.customer][1] -= d.total
		m.money[d.customer][0] += d.total
	}
}

// pairs of author and counterpart: mostly friends or former friends, but also strangers and oneself.
var pairs = [][2]int{{0, 1}, {1, 0}, {0, 2}, {2, 0}, {0, 1}, {1, 0}, {0, 2}, {2, 0}, {1, 2}, {1, 1}}

// create draws a random offer between any two agents.
func (m *model) create(t *rapid.T) {
	pair := rapid.SampledFrom(pairs).Draw(t, "author and other")
	author, other := pair[0], pair[1]
	reward := rapid.OneOf(rapid.Int64Range(1, 2000), rapid.Int64Range(100_000, 400_000)).Draw(t, "reward")
	fee := (reward*m.feeBps + 5000) / 10_000
	in := orders.CreateInput{
		OperationID: newID(), Title: graphtest.Ptr("t"), Description: graphtest.Ptr("d"), Deadline: graphtest.Ptr("2999-01-01T00:00:00Z"),
		AmountMinor: &reward,
	}
	d := &modelOrder{customer: author, contractor: other, author: author, place: place{state: "offered"}, version: 1, fee: fee, total: reward + fee}
	if rapid.Bool().Draw(t, "as customer") {
		in.ContractorID, in.ConfirmedTotalMinor = graphtest.Ptr(m.agents[other].ID.String()), graphtest.Ptr(d.total)
	} else {
		in.CustomerID = graphtest.Ptr(m.agents[other].ID.String())
		d.customer, d.contractor = other, author
	}
	wrong := in.ConfirmedTotalMinor != nil && rapid.IntRange(0, 9).Draw(t, "wrong price") == 0
	if wrong {
		*in.ConfirmedTotalMinor++
	}
	code := fault.Code("")
	switch {
	case !m.friends(author, other):
		code = fault.FriendshipRequired
	case !m.active(author, other):
		code = fault.ParticipantInactive
	case wrong:
		code = fault.PriceChanged
	}
	again := func() (*orders.OrderResult, error) { return m.w.Orders.CreateOrder(m.agents[author].Ctx, in) }
	made := m.requireOutcome(t, again, func() (*orders.OrderResult, error) {
		changed := in
		changed.Title = graphtest.Ptr("u")
		return m.w.Orders.CreateOrder(m.agents[author].Ctx, changed)
	}, code)
	if made != nil {
		d.id = made.Order.ID
		m.all = append(m.all, d)
	}
}

// act draws a random action of any agent on any order; often it is possible.
func (m *model) act(t *rapid.T) {
	if len(m.all) == 0 {
		t.Skip("no order yet")
	}
	d := rapid.SampledFrom(m.all).Draw(t, "order")
	caller, action := m.next(t, d)
	in := command(&orders.Card{ID: d.id, Version: d.version, TotalMinor: d.total}, action)
	stale := rapid.IntRange(0, 9).Draw(t, "stale") == 0
	if stale {
		*in.ExpectedVersion += rapid.SampledFrom([]int64{1, 2, 7}).Draw(t, "by")
	}
	switch rapid.IntRange(0, 9).Draw(t, "confirmation") {
	case 0:
		if action == orders.Accept {
			in.ConfirmedTotalMinor = nil
		}
	case 1:
		if action == orders.Accept {
			in.ConfirmedTotalMinor = graphtest.Ptr(d.total - 1)
		}
	}
	code, to := m.expect(d, action, caller, in.ConfirmedTotalMinor, stale)
	by := m.agents[caller]
	made := m.requireOutcome(t, func() (*orders.OrderResult, error) { return m.w.Orders.OrderAct(by.Ctx, in) }, func() (*orders.OrderResult, error) {
		changed := in
		changed.ExpectedVersion = graphtest.Ptr(*in.ExpectedVersion + 1)
		return m.w.Orders.OrderAct(by.Ctx, changed)
	}, code)
	if made != nil {
		m.apply(d, action, caller, to)
		require.Equal(t, d.version, made.Order.Version)
		require.Equal(t, d.place.state, made.Order.State)
	}
}

// next draws an agent and its action: one that advances the order, a possible one, or any.
func (m *model) next(t *rapid.T, d *modelOrder) (int, orders.Action) {
	possible := m.possible(d)
	forward := slices.DeleteFunc(slices.Clone(possible), func(n move) bool {
		return !slices.Contains([]orders.Action{orders.Accept, orders.Start, orders.Deliver, orders.Complete}, n.action)
	})
	from := rapid.SampledFrom([][]move{forward, forward, possible, nil}).Draw(t, "from")
	if len(from) == 0 {
		return rapid.IntRange(0, 2).Draw(t, "caller"), rapid.SampledFrom(orders.Actions()).Draw(t, "action")
	}
	drawn := rapid.SampledFrom(from).Draw(t, "move")
	return drawn.caller, drawn.action
}

// move is an action of an agent.
type move struct {
	caller int
	action orders.Action
}

// possible returns the moves that the model permits now.
func (m *model) possible(d *modelOrder) []move {
	var all []move
	for _, caller := range []int{d.customer, d.contractor} {
		for _, action := range orders.Actions() {
			if code, _ := m.expect(d, action, caller, &d.total, false); code == "" {
				all = append(all, move{caller, action})
			}
		}
	}
	return all
}

// requireOutcome makes a request and requires the model's answer; it keeps successful requests for repeats.
func (m *model) requireOutcome(t *rapid.T, request, changed func() (*orders.OrderResult, error), code fault.Code) *orders.OrderResult {
	made, err := request()
	if code != "" {
		require.Error(t, err)
		require.Equal(t, code, fault.From(err).Code, "%v", err)
		return nil
	}
	require.NoError(t, err)
	require.False(t, made.IsRepeat())
	m.done = append(m.done, done{request, changed, string(graphtest.Got(made.MarshalJSON())(t))})
	return made
}

// repeat sends an earlier request again, sometimes changed.
func (m *model) repeat(t *rapid.T) {
	if len(m.done) == 0 {
		t.Skip("nothing done yet")
	}
	before := rapid.SampledFrom(m.done).Draw(t, "operation")
	if rapid.Bool().Draw(t, "changed") {
		_, err := before.changed()
		require.Error(t, err)
		require.Equal(t, fault.IdempotencyConflict, fault.From(err).Code, "%v", err)
		return
	}
	again := graphtest.Got(before.again())(t)
	require.True(t, again.IsRepeat())
	require.Equal(t, before.body, string(graphtest.Got(again.MarshalJSON())(t)))
}

// changeWorld changes conditions that orders depend on.
func (m *model) changeWorld(t *rapid.T) {
	switch rapid.IntRange(0, 7).Draw(t, "what") {
	case 0:
		pair := rapid.SampledFrom([][2]int{{0, 1}, {0, 2}}).Draw(t, "pair")
		m.blocked[pair] = !m.blocked[pair] && rapid.Bool().Draw(t, "blocked")
		m.w.Exec("UPDATE contacts SET state = CASE WHEN $2 THEN 'blocked' ELSE 'accepted' END, blocked_by = CASE WHEN $2 THEN requester_id END WHERE id = $1",
			m.contact[pair], m.blocked[pair])
	case 1:
		agent := rapid.IntRange(0, 2).Draw(t, "agent")
		m.trashed[agent] = !m.trashed[agent] && rapid.Bool().Draw(t, "trashed")
		m.w.Exec("UPDATE bots SET state = CASE WHEN $2 THEN 'trash' ELSE 'active' END WHERE id = $1", m.agents[agent].ID, m.trashed[agent])
	case 2:
		m.feeBps = rapid.Int64Range(0, 10_000).Draw(t, "fee rate")
		m.w.Exec("UPDATE settings SET fee_bps = $1", m.feeBps)
	case 3:
		agent := rapid.IntRange(0, 2).Draw(t, "agent")
		m.money[agent][0] += 50_000
		require.NoError(t, m.w.DB.Tx(context.Background(), func(ctx context.Context, tx *db.Tx) error {
			return wallet.Issue(ctx, tx, wallet.TopUp, m.agents[agent].ID, 50_000, nil)
		}))
	case 4:
		if len(m.all) > 0 {
			d := rapid.SampledFrom(m.all).Draw(t, "late")
			d.late = true
			m.w.Exec("UPDATE orders SET deadline = $2 WHERE id = $1", d.id, time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
		}
	}
}

// requireEqual requires that balances and orders equal the model's, for every reader.
func (m *model) requireEqual(t *rapid.T) {
	for i, agent := range m.agents {
		own := graphtest.Got(m.w.Wallet.MyWallet(agent.Ctx))(t)
		require.Equal(t, m.money[i][0], own.Wallet.AvailableMinor)
		require.Equal(t, m.money[i][1], own.Wallet.ReservedMinor)
	}
	if len(m.all) == 0 {
		return
	}
	d, reader := rapid.SampledFrom(m.all).Draw(t, "looked at"), rapid.IntRange(0, 2).Draw(t, "reader")
	detail, err := m.w.Orders.Order(m.agents[reader].Ctx, orders.OrderInput{OrderID: d.id.String()})
	if d.role(reader) == "" {
		require.Equal(t, fault.NotFound, fault.From(err).Code)
		return
	}
	require.NoError(t, err)
	require.Equal(t, d.place.state, detail.Order.State)
	require.Equal(t, d.version, detail.Order.Version)
	require.Len(t, detail.Events, d.version)
	var permitted []string
	for _, next := range m.possible(d) {
		if next.caller == reader {
			permitted = append(permitted, string(next.action))
		}
	}
	require.Equal(t, permitted, names(detail.Order))
}

// For random operations of three agents and random changes around them, every answer equals the model's, no money is lost or
// created, and the ledger is sound.
func TestOrdersFollowModel(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(w)
		t.Repeat(map[string]func(*rapid.T){
			"create": m.create, "act": m.act, "act 2": m.act, "act 3": m.act, "act 4": m.act, "act 5": m.act, "repeat": m.repeat,
			"happen": m.changeWorld, "": m.requireEqual,
		})
		require.Empty(t, graphtest.Got(w.Wallet.Reconcile(context.Background()))(t))
	})
}
