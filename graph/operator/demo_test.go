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
func (o *office) register(handle, invitation string) (*bots.Registration, error) {
	in := bots.RegisterInput{Handle: &handle, DisplayName: &handle, EncryptionPublicKey: graphtest.Ptr("CQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=")}
	if invitation != "" {
		in.Invitation = &invitation
	}
	return o.Bots.RegisterBot(context.Background(), in)
}

// A valid invitation of the demo marks who registers with it, whether registration is open or by invitation; any other invitation
// marks no one.
func TestAnInvitationOfTheDemoMarks(t *testing.T) {
	t.Parallel()
	for _, mode := range []setting.RegistrationMode{setting.RegistrationModeOpen, setting.RegistrationModeInvitation} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
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
	o := newOffice(t)
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
	graphtest.RefusedField(t, fault.InvalidInput, "task")(o.Operator.RunMaintenance(o.ctx, "DEFRAGMENT", "why"))
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
	require.ErrorIs(t, graphtest.Err(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskCleanup, "why")), broken)
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
	require.Equal(t, int64(1), graphtest.Got(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskRewards, "now"))(t).Granted)
}

func TestTheBackupTask(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	graphtest.Refused(t, fault.ServiceUnavailable)(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskBackup, "now"))
	o.Operator.BackUp = func(context.Context) (*operator.Backup, error) { return &operator.Backup{Name: "monday"}, nil }
	done := graphtest.Got(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskBackup, "now"))(t)
	require.Equal(t, "monday", done.Backup.Name)
}

const marker = "Quetzalcoatlus"

// removals are the records with texts that operators can remove, with the way to make and remove each.
var removals = map[string]struct {
	make   func(o *office, by *graphtest.Agent) uuid.UUID
	remove func(o *office, id uuid.UUID) error
	text   func(o *office, id uuid.UUID) (string, error)
}{
	"post": {
		func(o *office, by *graphtest.Agent) uuid.UUID { return o.Posted(by, marker, "public").ID },
		func(o *office, id uuid.UUID) error {
			return graphtest.Err(o.Operator.RemovePost(o.ctx, id, nil, "why"))
		},
		func(o *office, id uuid.UUID) (string, error) {
			p, err := o.DB.Ent.Post.Get(o.ctx, id)
			return p.Title + p.Text, err
		},
	},
	"service": {
		func(o *office, by *graphtest.Agent) uuid.UUID { return o.Serviced(by, marker, marker).ID },
		func(o *office, id uuid.UUID) error {
			return graphtest.Err(o.Operator.RemoveService(o.ctx, id, nil, "why"))
		},
		func(o *office, id uuid.UUID) (string, error) {
			s, err := o.DB.Ent.Service.Get(o.ctx, id)
			return s.Title + s.Description, err
		},
	},
	"task": {
		func(o *office, by *graphtest.Agent) uuid.UUID {
			id := o.Tasked(by, marker, marker, 1000).ID
			o.Responded(o.Agent(), id)
			o.Exec("UPDATE responses SET text = $1", marker)
			return id
		},
		func(o *office, id uuid.UUID) error {
			return graphtest.Err(o.Operator.RemoveTask(o.ctx, id, nil, "why"))
		},
		func(o *office, id uuid.UUID) (string, error) {
			t, err := o.DB.Ent.Task.Get(o.ctx, id)
			return t.Title + t.Description, err
		},
	},
}

// Records that an operator removed, one by one or in one act, can be read for 30 days; then the cleanup erases their texts.
func TestRemovedTextsGoAfterAWhile(t *testing.T) {
	t.Parallel()
	all := []operator.ContentKind{operator.ContentKindPosts, operator.ContentKindTasks, operator.ContentKindServices}
	for way, remove := range map[string]func(o *office, by *graphtest.Agent, ids map[string]uuid.UUID){
		"one by one": func(o *office, _ *graphtest.Agent, ids map[string]uuid.UUID) {
			for name, of := range removals {
				require.NoError(o.t, of.remove(o, ids[name]))
			}
		},
		"by their kinds": func(o *office, by *graphtest.Agent, _ map[string]uuid.UUID) {
			graphtest.OK(o.t)(o.Operator.RemoveContent(o.ctx, by.ID, all, nil, "spam"))
		},
		"in a case": func(o *office, by *graphtest.Agent, ids map[string]uuid.UUID) {
			for name := range removals {
				o.Reported(o.Agent(), name, ids[name], "Spam.")
			}
			graphtest.OK(o.t)(o.Operator.ModerateBot(o.ctx, by.ID, true, true, true, true, nil, true, nil, nil, nil, "spam"))
		},
	} {
		t.Run(way, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t)
			by, ids := o.Agent(), map[string]uuid.UUID{}
			for name, of := range removals {
				ids[name] = of.make(o, by)
			}
			remove(o, by, ids)
			for _, passed := range []time.Duration{0, operator.RemovedRetention - time.Minute} {
				o.Shift(passed)
				require.Zero(t, graphtest.Got(o.Operator.EraseRemoved(context.Background()))(t))
			}
			for name, of := range removals {
				require.Contains(t, graphtest.Got(of.text(o, ids[name]))(t), marker, name)
			}
			o.Shift(2 * time.Minute)
			done := graphtest.Got(o.Operator.RunMaintenance(o.ctx, operator.MaintenanceTaskCleanup, "a check"))(t)
			require.Contains(t, done.Swept, &operator.Swept{Name: "removed_texts", Deleted: 3})
			require.Empty(t, o.Traces(marker))
			for name, of := range removals {
				require.Empty(t, graphtest.Got(of.text(o, ids[name]))(t), name)
			}
		})
	}
}

// Servers of an earlier version kept the texts that agents deleted. The next cleanup erases them, however many they are.
func TestTextsThatEarlierVersionsKeptGo(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
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
