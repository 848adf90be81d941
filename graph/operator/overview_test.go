package operator_test

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/operator"
)

// registered makes agents that registered some time ago.
func (o *operatorWorld) registered(ago time.Duration, count int) {
	for range count {
		agent := o.Agent()
		o.Exec("UPDATE bots SET created_at = stoa_now() - make_interval(secs => $2) WHERE id = $1", agent.ID, ago.Seconds())
	}
}

// sums returns the counts of the hour, the day and the month.
func (o *operatorWorld) sums() (agents [3]int64) {
	found := graphtest.Got(o.Operator.Overview(o.ctx))(o.t)
	require.Len(o.t, found.Activity, 3)
	for i, window := range found.Activity {
		require.Equal(o.t, []string{"hour", "day", "month"}[i], window.Window)
		require.Len(o.t, window.Agents, []int{30, 24, 30}[i])
		for _, n := range window.Agents {
			agents[i] += n
		}
	}
	return agents
}

// Each thing is counted once and in its window, even if minutes are recorded late or repeatedly.
func TestActivityIsCountedOnce(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	o.registered(0, 1)
	require.Equal(t, [3]int64{1, 1, 1}, o.sums(), "what is not recorded yet")
	o.registered(30*time.Minute, 2)
	o.registered(5*time.Hour, 3)
	o.registered(20*24*time.Hour, 4)
	o.registered(40*24*time.Hour, 5)
	for range 2 {
		require.NoError(t, o.Operator.RecordActivity(o.ctx))
		require.Equal(t, [3]int64{3, 6, 10}, o.sums())
	}
	require.Zero(t, o.Count("SELECT count(*) FROM activity WHERE at >= date_trunc('minute', stoa_now() - interval '2 minutes')"))
	require.Zero(t, o.Count("SELECT count(*) FROM (SELECT at - lag(at) OVER (ORDER BY at) AS gap FROM activity) g WHERE gap <> interval '1 minute'"))

	o.Shift(3 * time.Hour)
	require.Equal(t, [3]int64{0, 5, 9}, o.sums(), "reading counts an hour at most")
	require.NoError(t, o.Operator.RecordActivity(o.ctx))
	require.Equal(t, [3]int64{0, 6, 10}, o.sums())
	o.Shift(32 * day)
	require.Positive(t, graphtest.Got(o.Operator.DeleteOldActivity(o.ctx))(t))
	require.Zero(t, o.Count("SELECT count(*) FROM activity WHERE at < stoa_now() - interval '31 days'"))
}

func TestNeedsAttention(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	kinds := func() map[string]int64 {
		found := graphtest.Got(o.Operator.Overview(o.ctx))(t)
		all := map[string]int64{}
		for _, one := range found.Attention {
			all[one.Kind] = one.Count
		}
		return all
	}
	require.Empty(t, kinds())
	o.order()
	o.sent(o.Agent())
	o.Exec(`UPDATE ledger_checks SET last_found = '{"counted": {"available_balance": 1}, "imbalance": 0}', last_ended_at = stoa_now() WHERE scope = 'new'`)
	o.Exec(`INSERT INTO ledger_checks (scope, last_found, last_ended_at) VALUES ('new', '{"counted": {"available_balance": 1}, "imbalance": 0}', stoa_now()) ON CONFLICT DO NOTHING`)
	require.Equal(t, map[string]int64{"orders": 1, "feedback": 1, "ledger": 1}, kinds())
	o.Exec("UPDATE ledger_checks SET last_found = '{\"counted\": {}, \"imbalance\": 0}', last_ended_at = stoa_now() - interval '4 hours' WHERE scope = 'new'")
	require.Equal(t, map[string]int64{"orders": 1, "feedback": 1, "ledger_late": 1}, kinds())
	o.Exec("UPDATE orders SET state = 'cancelled'")
	o.Exec("UPDATE ledger_checks SET last_ended_at = stoa_now()")
	require.Equal(t, map[string]int64{"feedback": 1}, kinds())
	o.Exec("UPDATE bots SET suspended_at = stoa_now()")
	require.Empty(t, kinds(), "a suspended agent cannot read an answer")
}

// The overview reads few of the many feedback rows of a suspended agent, and shows newer feedback of others.
func TestAFloodOfASuspendedAgentIsNotCounted(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	loud := o.Agent()
	o.Exec(`INSERT INTO feedbacks (id, created_at, bot_id, kind, text, state)
		SELECT ('00000000' || substr(gen_random_uuid()::text, 9))::uuid, stoa_now(), $1, 'bug', 'x', 'open' FROM generate_series(1, 15000)`, loud.ID)
	o.Exec("UPDATE bots SET suspended_at = stoa_now() WHERE id = $1", loud.ID)
	o.Exec("VACUUM ANALYZE feedbacks")
	o.sent(o.Agent())
	statement := graphtest.Statement("select_attention")
	require.LessOrEqual(t, o.RowsRead("feedbacks", statement, 1, 1, 1), int64(10_001))
	require.EqualValues(t, 1, o.Count("SELECT count FROM ("+statement.Text+") AS found WHERE kind = 'feedback'", 1, 1, 1))
}

// A process without a report for a day is deleted once another process reports.
func TestSilentProcessesAreForgotten(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	for range 2 {
		o.Shift(26 * time.Hour)
		reported := operator.Process{ID: uuid.Must(uuid.NewV7()), Name: "host:1", Version: "1", Roles: []string{"api"}, Failing: []string{}}
		for range 2 {
			require.NoError(t, o.Operator.RecordProcess(o.ctx, reported))
		}
		require.EqualValues(t, 1, o.Count("SELECT count(*) FROM processes"))
	}
}
