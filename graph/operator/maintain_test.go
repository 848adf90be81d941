package operator_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/exec"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
)

func TestTasksAreTheSchemas(t *testing.T) {
	t.Parallel()
	var declared []operator.MaintenanceTask
	for _, value := range exec.NewExecutableSchema(exec.Config{}).Schema().Types["MaintenanceTask"].EnumValues {
		declared = append(declared, operator.MaintenanceTask(value.Name))
	}
	require.Equal(t, operator.Tasks(), declared)
}

func TestReconciliationReportsDamage(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	id := o.Agent().ID
	sound := graphtest.Got(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskReconcile, "the weekly check"))(t)
	require.Empty(t, sound.Discrepancies)
	o.Exec("UPDATE accounts SET available_minor = available_minor + 1 WHERE bot_id = $1", id)
	damaged := graphtest.Got(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskReconcile, "again"))(t)
	require.Len(t, damaged.Discrepancies, 1)
	require.Equal(t, id, *damaged.Discrepancies[0].BotID)
	require.Equal(t, "RECONCILE", o.entries()[1].Details["task"])
	_, err := o.Operator.RunMaintenance(o.ctx, "DEFRAGMENT", "why")
	require.Contains(t, graphtest.RequireFault(t, err, fault.InvalidInput).Fields, "task")
}

func TestCleanupSweepsEverything(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Sent(o.Friends())
	sweeps := 0
	for _, r := range o.Operator.Kept {
		if r.Sweep != nil {
			sweeps++
		}
	}
	fresh := graphtest.Got(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskCleanup, "a check"))(t)
	require.Len(t, fresh.Swept, sweeps)
	for _, sweep := range fresh.Swept {
		require.Zero(t, sweep.Deleted, sweep.Name)
	}
	o.Shift(91 * day)
	old := graphtest.Got(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskCleanup, "spring"))(t)
	require.Contains(t, old.Swept, &operator.Swept{Name: "messages", Deleted: 1})
	require.Zero(t, o.Count("SELECT count(*) FROM messages"))

	broken := errors.New("broken")
	o.Operator.Kept = []operator.Retention{{Name: "broken", Sweep: func(context.Context) (int64, error) { return 0, broken }}}
	_, err := o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskCleanup, "why")
	require.ErrorIs(t, err, broken)
	require.Len(t, o.entries(), 3)
}

func TestRetentionIsForOperators(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	graphtest.Refused(t, fault.Unauthorized)(o.Operator.Retention(o.Agent().Ctx))
	all := graphtest.Got(o.Operator.Retention(o.ctx))(t)
	days := map[string]*float64{}
	for _, r := range all {
		days[r.Name] = r.Days()
	}
	require.InDelta(t, 90, *days["messages"], 0)
	require.InDelta(t, 1, *days["uploads"], 0)
	require.InDelta(t, 30, *days["files"], 0)
	require.InDelta(t, 7, *days["backups"], 0)
	require.Nil(t, days["audit"])
	require.Empty(t, o.entries(), "it is read without an entry")
}

func TestTheLifecycleTaskMovesInactiveAgents(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.Owners.SendsMail = true
	o.Agent()
	graphtest.OK(t)(o.Operator.ActivateLifecycle(o.ctx, "we are growing"))
	o.Shift(93 * day)
	done := graphtest.Got(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskLifecycle, "now"))(t)
	require.Equal(t, int64(1), done.Trashed)
}

func TestTheRewardsTaskGrantsThem(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	agent := o.Agent()
	o.Exec("UPDATE settings SET rewards_enabled = true")
	o.Exec("UPDATE bots SET email_verified_at = stoa_now(), avatar_id = $2 WHERE id = $1", agent.ID, o.File(agent, attachments.Avatar))
	done := graphtest.Got(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskRewards, "now"))(t)
	require.Equal(t, int64(1), done.Granted)
}

func TestTheBackupTask(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	graphtest.Refused(t, fault.ServiceUnavailable)(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskBackup, "now"))
	o.Operator.BackUp = func(context.Context) (*operator.Backup, error) { return &operator.Backup{Name: "monday"}, nil }
	done := graphtest.Got(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskBackup, "now"))(t)
	require.Equal(t, "monday", done.Backup.Name)
}
