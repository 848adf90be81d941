package operator_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/ent/setting"
	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/exec"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/fault"
	"stoa/graph/posts"
)

// register tries to register an agent with an invitation.
func (o *operatorWorld) register(handle, invitation string) (*bots.Registration, error) {
	in := bots.RegisterInput{Handle: &handle, DisplayName: &handle, EncryptionPublicKey: graphtest.Ptr("CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")}
	if invitation != "" {
		in.Invitation = &invitation
	}
	return o.Bots.RegisterBot(context.Background(), in)
}

// A valid invitation of the demo marks each agent that registers with it, whether registration is open or by invitation; any
// other invitation marks no agent.
func TestAnInvitationOfTheDemoMarks(t *testing.T) {
	t.Parallel()
	for _, mode := range []setting.RegistrationMode{setting.RegistrationModeOpen, setting.RegistrationModeInvitation} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			o := newOperatorWorld(t)
			made := graphtest.Got(o.Operator.CreateInvitation(o.ctx, operator.InvitationInput{IsDemo: graphtest.Ptr(true)}, "why"))(t)
			require.True(t, made.Invitation.IsDemo)
			require.Equal(t, true, o.entries()[0].Details["isDemo"])
			plain := graphtest.Got(o.Operator.CreateInvitation(o.ctx, operator.InvitationInput{Uses: graphtest.Ptr(2)}, "why"))(t)
			require.False(t, plain.Invitation.IsDemo)
			graphtest.OK(t)(o.Operator.UpdateSettings(o.ctx, operator.SettingsInput{RegistrationMode: &mode}, "why"))

			for i, c := range []struct {
				code string
				demo bool
			}{{plain.Code, false}, {made.Code, true}} {
				require.Equal(t, c.demo, graphtest.Got(o.register(fmt.Sprint("agent", i), c.code))(t).Bot.IsDemo)
			}
			require.EqualValues(t, 1, o.Count("SELECT count(*) FROM bots WHERE is_demo AND handle = 'agent1'"))
			require.EqualValues(t, 1, o.Count("SELECT used FROM invitations WHERE is_demo"))

			spent, err := o.register("agent2", made.Code)
			if mode == setting.RegistrationModeInvitation {
				graphtest.RequireFault(t, err, fault.InvalidInvitation)
				return
			}
			require.NoError(t, err)
			require.False(t, spent.Bot.IsDemo)
			require.Zero(t, o.Count("SELECT used FROM invitations WHERE NOT is_demo"), "it is not needed")
		})
	}
}

// Only an operator counts and removes the demo; the audit log has an entry of the removal.
func TestTheRemovalOfTheDemoIsAudited(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	o.InspectWith(nil)
	one, other := o.Agent(), o.Agent()
	o.Exec("UPDATE bots SET is_demo = true WHERE id = $1", one.ID)
	graphtest.Refused(t, fault.Unauthorized)(o.Operator.Population(other.Ctx))
	graphtest.Refused(t, fault.Unauthorized)(o.Operator.RemoveDemo(other.Ctx, "why"))
	graphtest.Refused(t, fault.InvalidInput)(o.Operator.RemoveDemo(o.ctx, " "))
	found := graphtest.Got(o.Operator.Population(o.ctx))(t)
	require.Equal(t, operator.Population{Demo: 1, Others: 1}, found)
	require.Empty(t, o.entries())

	require.EqualValues(t, 1, graphtest.Got(o.Operator.RemoveDemo(o.ctx, "why"))(t).Deleted)
	require.Equal(t, "removeDemo", o.entries()[0].Procedure)
	found = graphtest.Got(o.Operator.Population(o.ctx))(t)
	require.Equal(t, operator.Population{Others: 1}, found)
}

func TestCleanupSweepsEverything(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
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
	require.ErrorIs(t, graphtest.Err(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskCleanup, "why")), broken)
	require.Len(t, o.entries(), 3)
}

// Each task does its work, and only the tasks of the schema exist.
func TestTasksOfMaintenance(t *testing.T) {
	t.Parallel()
	var declared []operator.MaintenanceTask
	for _, value := range exec.NewExecutableSchema(exec.Config{}).Schema().Types["MaintenanceTask"].EnumValues {
		declared = append(declared, operator.MaintenanceTask(value.Name))
	}
	require.Equal(t, operator.Tasks(), declared)
	o := newOperatorWorld(t)
	run := func(task operator.MaintenanceTask) *operator.Maintenance {
		return graphtest.Got(o.Operator.RunMaintenance(o.ctx, task, "now"))(t)
	}
	graphtest.Refused(t, fault.ServiceUnavailable)(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskBackup, "now"))
	o.Operator.BackUp = func(context.Context) (*operator.Backup, error) { return &operator.Backup{Name: "monday"}, nil }
	require.Equal(t, "monday", run(operator.MaintenanceTaskBackup).Backup.Name)
	agent := o.Agent()
	require.Empty(t, run(operator.MaintenanceTaskReconcile).Discrepancies)
	o.Exec("UPDATE accounts SET available_minor = available_minor + 1 WHERE bot_id = $1", agent.ID)
	damaged := run(operator.MaintenanceTaskReconcile).Discrepancies
	require.Len(t, damaged, 1)
	require.Equal(t, agent.ID, *damaged[0].BotID)
	require.Equal(t, "RECONCILE", o.entries()[3].Details["task"])
	o.Exec("UPDATE settings SET rewards_enabled = true")
	o.Exec("UPDATE bots SET email_verified_at = stoa_now(), avatar_id = $2 WHERE id = $1", agent.ID, o.File(agent, attachments.Avatar))
	require.EqualValues(t, 1, run(operator.MaintenanceTaskRewards).Granted)
	o.Owners.SendsMail = true
	graphtest.OK(t)(o.Operator.ActivateLifecycle(o.ctx, "we are growing"))
	o.Shift(93 * day)
	require.EqualValues(t, 1, run(operator.MaintenanceTaskLifecycle).Trashed)
}

const marker = "Quetzalcoatlus"

// Removed records, one by one or in one act, can be read for 30 days; then the cleanup erases their texts.
func TestRemovedTextsAreErasedAfterAWhile(t *testing.T) {
	t.Parallel()
	all := []operator.ContentKind{operator.ContentKindPosts, operator.ContentKindTasks, operator.ContentKindServices}
	for way, remove := range map[string]func(o *operatorWorld, by *graphtest.Agent, ids map[string]uuid.UUID){
		"one by one": func(o *operatorWorld, _ *graphtest.Agent, ids map[string]uuid.UUID) {
			graphtest.OK(o.t)(o.Operator.RemovePost(o.ctx, ids["post"], nil, "why"))
			graphtest.OK(o.t)(o.Operator.RemoveTask(o.ctx, ids["task"], nil, "why"))
			graphtest.OK(o.t)(o.Operator.RemoveService(o.ctx, ids["service"], nil, "why"))
		},
		"by their kinds": func(o *operatorWorld, by *graphtest.Agent, _ map[string]uuid.UUID) {
			graphtest.OK(o.t)(o.Operator.RemoveContent(o.ctx, by.ID, all, nil, "spam"))
		},
		"in a case": func(o *operatorWorld, by *graphtest.Agent, ids map[string]uuid.UUID) {
			for kind, id := range ids {
				o.Reported(o.Agent(), kind, id, "Spam.")
			}
			graphtest.OK(o.t)(o.Operator.ModerateBot(o.ctx, by.ID, true, true, true, true, nil, true, nil, nil, nil, "spam"))
		},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			o := newOperatorWorld(t)
			by := o.Agent()
			task := o.Tasked(by, marker, marker, 1000).ID
			o.Responded(o.Agent(), task)
			o.Exec("UPDATE responses SET text = $1", marker)
			remove(o, by, map[string]uuid.UUID{"post": o.Posted(by, marker, "public").ID, "task": task, "service": o.Serviced(by, marker, marker).ID})
			for _, passed := range []time.Duration{0, operator.RemovedRetention - time.Minute} {
				o.Shift(passed)
				require.Zero(t, graphtest.Got(o.Operator.EraseRemoved(context.Background()))(t))
			}
			require.Subset(t, o.Traces(marker), []string{"posts.text", "services.title", "services.description", "tasks.title", "tasks.description"})
			o.Shift(2 * time.Minute)
			done := graphtest.Got(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskCleanup, "a check"))(t)
			require.Contains(t, done.Swept, &operator.Swept{Name: "removed_texts", Deleted: 3})
			require.Empty(t, o.Traces(marker))
		})
	}
}

// Servers of an earlier version kept the texts that agents deleted. The next cleanup erases all of them.
func TestTextsOfEarlierVersionsAreErased(t *testing.T) {
	t.Parallel()
	o := newOperatorWorld(t)
	agent := o.Agent()
	kept := o.Posted(agent, "as ever", "public")
	o.Exec(`INSERT INTO posts (id, created_at, updated_at, author_id, title, text, deleted_at)
		SELECT gen_random_uuid(), stoa_now(), stoa_now(), $1, '', $2, stoa_now() FROM generate_series(1, 1201)`, agent.ID, marker)
	o.Exec(`INSERT INTO services (id, created_at, updated_at, bot_id, title, description, deleted_at)
		VALUES (gen_random_uuid(), stoa_now(), stoa_now(), $1, $2, $2, stoa_now())`, agent.ID, marker)
	require.EqualValues(t, 1202, graphtest.Got(o.Operator.EraseRemoved(context.Background()))(t))
	require.Empty(t, o.Traces(marker))
	require.Equal(t, "as ever", graphtest.Got(o.Posts.Post(agent.Ctx, posts.PostInput{PostID: kept.ID.String()}))(t).Post.Text)
}
