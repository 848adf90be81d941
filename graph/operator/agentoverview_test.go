package operator_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// One query shows an agent's records and the records about it.
func TestTheDossierOfAnAgent(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	agent, other := o.named("vex", "Platform Support"), o.named("kai", "Kai")
	o.Posted(agent, "buy now", "public")
	o.task(agent)
	o.service(agent)
	o.File(agent, "avatar")
	o.sent(agent)
	o.Block(other, o.Asked(agent, other))
	order := o.order()
	o.Exec("UPDATE orders SET customer_id = $2, contractor_id = $3, author_id = $2, state = 'delivered' WHERE id = $1", order, agent.ID, other.ID)
	graphtest.OK(t)(o.Operator.TopUpWallet(o.ctx, agent.ID, 1250, nil, "a prize"))
	d := graphtest.Got(o.Operator.Dossier(o.ctx, agent.ID))(t)
	require.True(t, d.Posing)
	require.True(t, d.Public)
	require.Equal(t, "active", d.State)
	require.EqualValues(t, 1, d.Sessions)
	sections := map[string][]*operator.Trace{}
	for _, trace := range d.Traces {
		sections[trace.Section] = append(sections[trace.Section], trace)
	}
	for _, section := range []string{"posts", "tasks", "services", "files", "feedback", "contacts", "orders", "ledger", "audit"} {
		require.NotEmpty(t, sections[section], section)
	}
	require.Equal(t, "@vex asked @kai", sections["contacts"][0].Name)
	require.Equal(t, "blocked by @kai", sections["contacts"][0].About)
	require.Equal(t, "topUpWallet", sections["audit"][0].Name)
	newest := sections["ledger"][0]
	require.EqualValues(t, 1250, *newest.AmountMinor)
	require.Equal(t, d.AvailableMinor+d.ReservedMinor, *newest.BalanceMinor)
	require.Equal(t, *newest.BalanceMinor-1250, *sections["ledger"][1].BalanceMinor)
	require.Len(t, d.Trades, 1)
	require.Equal(t, "vex", d.Trades[0].Turn)
	require.Equal(t, []string{"@vex can end it: complete.", "A refund needs both: one proposes it, the other approves it."}, d.Trades[0].Ends)
	require.Equal(t, []string{
		"@vex could end it (complete) if it were not suspended.", "A refund needs both: one proposes it, the other approves it, and @vex is suspended.",
	}, d.IfSuspended[0].Ends)

	graphtest.OK(t)(o.Operator.SuspendBot(o.ctx, agent.ID, nil, "a swindler"))
	d = graphtest.Got(o.Operator.Dossier(o.ctx, agent.ID))(t)
	require.Equal(t, "suspended", d.State)
	require.False(t, d.Public)
	require.Equal(t, d.IfSuspended, d.Trades)
	require.Nil(t, graphtest.Got(o.Operator.Dossier(o.ctx, uuid.New()))(t))
	graphtest.Refused(t, fault.Unauthorized)(o.Operator.Dossier(viewer.With(context.Background(), viewer.Viewer{Kind: viewer.Agent}), agent.ID))
}

// A stuck order has the reasons.
func TestWhyAnOrderIsStuck(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	order := o.order()
	stuck := func(state string) string {
		o.Exec("UPDATE orders SET state = $2::text, disputed_by = CASE WHEN $2::text = 'disputed' THEN customer_id END WHERE id = $1", order, state)
		return strings.Join(graphtest.Got(o.Operator.Trade(o.ctx, order))(t).Stuck, " ")
	}
	require.Regexp(t, "^Disputed by @[a-z0-9_]+[.]$", stuck("disputed"))
	o.Shift(time.Hour)
	require.Equal(t, "Past its deadline.", stuck("funded"))
	require.Empty(t, stuck("delivered"))
	o.Shift(4 * day)
	require.Equal(t, "Untouched for three days while credits are held.", stuck("delivered"))
	require.Empty(t, stuck("cancelled"))
	require.Nil(t, graphtest.Got(o.Operator.Trade(o.ctx, uuid.New()))(t))
	require.Len(t, graphtest.Got(o.Operator.Trades(o.ctx, []uuid.UUID{uuid.New(), order}))(t), 1)
	graphtest.Refused(t, fault.InvalidPagination)(o.Operator.Trades(o.ctx, make([]uuid.UUID, 101)))
	graphtest.Refused(t, fault.Unauthorized)(o.Operator.Trades(context.Background(), nil))
}

// Now shows the acts of agents within the last hour only. The console's test of this name has a flood of one kind.
func TestNow(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	agent, other := o.Agent(), o.Agent()
	o.Posted(agent, "a text", "public")
	o.Posted(agent, "a secret", "private")
	o.task(agent)
	o.rating()
	o.Exec("UPDATE attachments SET status = 'rejected', rejection = 'It is no picture.' WHERE id = $1", o.File(agent, "avatar"))
	o.Reported(other, "bot", agent.ID, "It asks for tokens.")
	kinds := func() map[string]int {
		found := graphtest.Got(o.Operator.Now(o.ctx))(t)
		counts := map[string]int{}
		for _, one := range found.Stream {
			counts[one.Kind]++
		}
		require.True(t, slices.IsSortedFunc(found.Stream, func(a, b *operator.Happening) int { return b.At.Compare(a.At) }))
		return counts
	}
	require.Equal(t, map[string]int{"joined": 4, "published": 1, "asked": 1, "traded": 1, "rated": 1, "refused": 1, "reported": 1}, kinds())
	found := graphtest.Got(o.Operator.Now(o.ctx))(t)
	require.Len(t, found.Trades, 1)
	require.Equal(t, "reports", found.Attention[0].Kind)
	require.False(t, found.More)
	for _, one := range found.Stream {
		require.EqualValues(t, map[bool]int{true: 5, false: 1}[one.Kind == "traded"], one.Times, one.Kind)
	}
	o.Shift(2 * time.Hour)
	require.Empty(t, kinds())
	o.Exec("UPDATE posts SET visibility = 'public'")
	require.Equal(t, map[string]int{"published": 1}, kinds(), "the secret, which was made earlier")
}

// Issued credits are in wallets, in escrow or were paid as fees; an agent's statement leads from its balance back to zero.
func TestBooks(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	agent := o.Agent()
	for range 3 {
		graphtest.OK(t)(o.Operator.TopUpWallet(o.ctx, agent.ID, 100, nil, "a prize"))
	}
	books := graphtest.Got(o.Operator.Books(o.ctx))(t)
	require.Positive(t, books.IssuedMinor)
	require.Zero(t, books.DifferenceMinor)
	require.Equal(t, books.IssuedMinor, books.AvailableMinor+books.ReservedMinor+books.FeesMinor)
	require.Len(t, books.Checks, 2)
	require.Nil(t, books.Checks[1].EndedAt)
	graphtest.OK(t)(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskReconcile, "now"))
	require.NotNil(t, graphtest.Got(o.Operator.Books(o.ctx))(t).Checks[1].EndedAt, "a check that an operator runs is the last one")
	lines := graphtest.Got(o.Operator.Statement(o.ctx, agent.ID, nil))(t)
	require.Len(t, lines, 4)
	for i, line := range lines {
		require.EqualValues(t, 4-i, line.Number)
		before := int64(0)
		if i+1 < len(lines) {
			before = lines[i+1].AvailableMinor
		}
		require.Equal(t, before+line.DeltaMinor, line.AvailableMinor, "line %d", line.Number)
		require.Zero(t, line.ReservedMinor)
	}
	require.Equal(t, lines[2:], graphtest.Got(o.Operator.Statement(o.ctx, agent.ID, graphtest.Ptr(int64(3))))(t))
}
