package jobs_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/bots"
	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/wire"
	"stoa/graph/wallet"
	"stoa/jobs"
)

// never is an interval between polls that is longer than any test: a job that runs in a test was announced by a notice.
const never = time.Hour

// world is a graphtest.World whose wake-ups are recorded.
type world struct {
	*graphtest.World
	t     testing.TB
	clock *jobs.Clock
	mu    sync.Mutex
	woken []uuid.UUID
	log   bytes.Buffer
}

func newWorld(t testing.TB) *world {
	t.Helper()
	h := &world{World: graphtest.New(t), t: t}
	var err error
	h.clock, err = jobs.NewClock(t.Context(), h.DB.Direct)
	require.NoError(t, err)
	store, err := attachments.OpenStore(context.Background(), "", t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	h.Attachments.Store = store
	h.Events.Wake = func(recipients []uuid.UUID) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.woken = append(h.woken, recipients...)
	}
	return h
}

// Write makes the world the end of its log.
func (h *world) Write(line []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.log.Write(line)
}

func (h *world) logged(text string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return bytes.Contains(h.log.Bytes(), []byte(text))
}

func (h *world) wokenSince() []uuid.UUID {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.woken)
}

func (h *world) config() jobs.Config {
	return jobs.Config{Graph: h.Graph, DB: h.DB, URL: h.URL, Clock: h.clock, Logger: slog.New(slog.NewTextHandler(h, nil))}
}

// start runs jobs without ever polling; of the periodic jobs it runs only the given kinds.
func (h *world) start(kinds ...string) *jobs.Jobs {
	h.t.Helper()
	running, err := jobs.StartPolling(context.Background(), h.config(), never, kinds...)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { require.NoError(h.t, running.Stop(context.Background())) })
	return running
}

// connect lets an agent hold a slot of a process that lives as long as the test.
func (h *world) connect(agent *graphtest.Agent) {
	h.t.Helper()
	process, err := h.Events.NewProcess(context.Background())
	require.NoError(h.t, err)
	notices := make(chan *pq.Notification)
	conn, err := db.Listen(h.URL, notices)
	require.NoError(h.t, err)
	h.t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.ExecSimpleQuery(fmt.Sprintf("SELECT pg_advisory_lock(%d, %d)", events.ProcessLock, process))
	require.NoError(h.t, err)
	slot := events.Slot{ID: uuid.New(), BotID: agent.ID, TokenID: viewer.From(agent.Ctx).TokenID}
	verdict, err := h.Events.OpenSlot(context.Background(), process, slot, 0, 0)
	require.NoError(h.t, err)
	require.Equal(h.t, events.Taken, verdict)
}

func TestConnectedAgentsWithEventsAreWokenEverySecond(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	connected, absent := h.Agent(), h.Agent()
	h.connect(connected)
	h.Befriend(connected, absent)
	h.Sent(connected, absent)
	h.Sent(absent, connected)
	h.start("deliver")
	h.mu.Lock()
	h.woken = nil
	h.mu.Unlock()
	require.Eventually(t, func() bool { return len(h.wokenSince()) >= 3 }, slack.TestWait, 10*time.Millisecond)
	for _, id := range h.wokenSince() {
		require.Equal(t, connected.ID, id)
	}
}

func TestJobsOutliveALostDatabase(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	running, err := jobs.StartPolling(t.Context(), h.config(), time.Second, "deliver")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, running.Stop(context.Background())) })
	works := func() {
		h.Exec(`INSERT INTO river_job (kind, queue, args, max_attempts) VALUES ($1, 'prompt', $2, 1)`,
			wallet.RewardJob{}.Kind(), fmt.Sprintf(`{"bot_id": %q}`, uuid.New()))
		const open = "SELECT count(*) FROM river_job WHERE finalized_at IS NULL"
		require.Eventually(t, func() bool { return h.Count(open) == 0 }, slack.TestWait, 10*time.Millisecond)
	}
	works()
	restore := h.Outage()
	require.Eventually(t, func() bool { return h.DB.Ping(context.Background()) != nil }, slack.TestWait, 10*time.Millisecond)
	require.NoError(t, running.Healthy(context.Background()))
	require.Eventually(t, func() bool { return h.logged("level=ERROR") }, slack.TestWait, 10*time.Millisecond, "a job is looked for in vain")
	restore()
	require.Eventually(t, func() bool { return h.DB.Ping(context.Background()) == nil }, slack.TestWait, 10*time.Millisecond)
	works()
}

func TestStopIsFinal(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	running, err := jobs.Start(context.Background(), h.config())
	require.NoError(t, err)
	require.NoError(t, running.Healthy(context.Background()))
	require.NoError(t, running.Stop(context.Background()))
	require.Error(t, running.Healthy(context.Background()))
	const listeners = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'stoa jobs'"
	closed := func() bool { return h.Count(listeners) == 0 }
	require.Eventually(t, closed, slack.TestWait, 10*time.Millisecond, "PostgreSQL ends a session some time after its connection")
}

// A tick that does not end holds up no shutdown.
func TestStopDoesNotWaitForEver(t *testing.T) {
	t.Parallel()
	begun, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	stop := jobs.StartTick(func(context.Context, jobs.Config) error { close(begun); <-end; return nil })
	<-begun
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	stop(ended)
}

func TestTheTableNamesEachJobOnce(t *testing.T) {
	t.Parallel()
	kinds := jobs.Kinds()
	sorted := slices.Compact(slices.Sorted(slices.Values(kinds)))
	require.Len(t, sorted, len(kinds))
}

func TestEverythingIsCleanedUp(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	one, other := h.Friends()
	h.Sent(one, other)
	h.Exec("INSERT INTO socket_leases VALUES (gen_random_uuid(), 999999, $1, $1, stoa_now())", one.ID)
	h.Exec("INSERT INTO rate_windows VALUES ('messages', 'someone', stoa_now() - interval '1 day', 0, 1, '{1}')")
	h.Exec("UPDATE messages SET expires_at = stoa_now()")
	h.Exec("UPDATE tokens SET expires_at = stoa_now() - interval '8 days' WHERE bot_id = $1", one.ID)
	h.start("cleanup")
	for _, table := range []string{"messages", "socket_leases", "rate_windows", "events WHERE message_id IS NOT NULL", "tokens WHERE bot_id = '" + one.ID.String() + "'"} {
		require.Eventually(t, func() bool { return h.Count("SELECT count(*) FROM "+table) == 0 }, slack.TestWait, 10*time.Millisecond, table)
	}
}

// A statement that was prepared while its table was empty gets another plan after the table has filled, without autovacuum.
func TestPlansFollowTheGrowthOfTables(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	agent := h.Agent()
	h.Exec("ALTER TABLE notices SET (autovacuum_enabled = false)")
	h.Exec("ANALYZE notices")
	conn, err := h.DB.SQL.Pool.Conn(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	plan := func() (text string) {
		require.NoError(t, conn.QueryRowContext(t.Context(), "EXPLAIN (FORMAT JSON) EXECUTE read_notices ('00000000-0000-0000-0000-000000000000')").Scan(&text))
		return text
	}
	for _, statement := range []string{"SET plan_cache_mode = force_generic_plan", "PREPARE read_notices (uuid) AS SELECT FROM notices WHERE bot_id = $1"} {
		_, err := conn.ExecContext(t.Context(), statement)
		require.NoError(t, err)
	}
	h.Exec("INSERT INTO notices (id, bot_id, about_type, about_id, text, created_at) SELECT gen_random_uuid(), $1, 'task', $1, 'x', stoa_now() FROM generate_series(1, 10)", agent.ID)
	h.Exec("ANALYZE notices")
	for range 30 {
		h.Exec("UPDATE notices SET text = text || 'x'")
	}
	const changed = "SELECT n_mod_since_analyze FROM pg_stat_user_tables WHERE relname = 'notices'"
	require.Eventually(t, func() bool { return h.Count(changed) >= 300 }, slack.TestWait, 10*time.Millisecond)
	require.NotContains(t, fmt.Sprint(graphtest.Got(jobs.GrownTables(t.Context(), h.DB))(t)), "notices", "changes are no growth")
	empty := plan()
	h.Exec("INSERT INTO notices (id, bot_id, about_type, about_id, text, created_at) SELECT gen_random_uuid(), $1, 'task', $1, repeat('x', 300), stoa_now() FROM generate_series(1, 2000)", agent.ID)
	require.Equal(t, empty, plan())
	h.start("analyze")
	require.Eventually(t, func() bool { return plan() != empty }, slack.TestWait, 10*time.Millisecond)
}

func TestAnUnbalancedLedgerRaisesTheAlarm(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	agent := h.Agent()
	h.Exec("UPDATE accounts SET available_minor = available_minor + 1 WHERE bot_id = $1", agent.ID)
	h.start("reconcile")
	require.Eventually(t, func() bool {
		return h.logged("level=ERROR msg=\"the ledger does not balance\" scope=new check=available_balance bot_id=" + agent.ID.String())
	},
		slack.TestWait, 10*time.Millisecond)
}

func TestAMutationAsksForAJobInItsTransaction(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	enqueue, err := jobs.NewEnqueue(h.DB, h.clock, slog.New(slog.NewTextHandler(h, nil)))
	require.NoError(t, err)
	ask := func(outcome error) error {
		return h.DB.Tx(t.Context(), func(ctx context.Context, tx *db.Tx) error {
			if err := enqueue(ctx, tx, attachments.InspectJob{AttachmentID: uuid.New()}); err != nil {
				return err
			}
			return outcome
		})
	}
	require.ErrorIs(t, ask(context.Canceled), context.Canceled)
	require.Zero(t, h.Count("SELECT count(*) FROM river_job"))
	require.NoError(t, ask(nil))
	require.EqualValues(t, 1, h.Count("SELECT count(*) FROM river_job WHERE kind = 'inspect' AND queue = 'inspection' AND state = 'available'"))
	// The upload does not exist, so there is nothing to do.
	h.Exec("INSERT INTO river_job (kind, queue, args, max_attempts) VALUES ('feed', 'prompt', '{}', 1)") // an earlier version's
	h.start()
	require.NoError(t, ask(nil))
	require.Eventually(t, func() bool {
		return h.Count("SELECT count(*) FROM river_job WHERE kind IN ('inspect', 'feed') AND state = 'completed'") == 3
	}, slack.TestWait, 10*time.Millisecond)
}

// Acts of an agent and of an operator lead to credits without waiting for a period.
func TestRewardsAreGrantedByJobs(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	enqueue, err := jobs.NewEnqueue(h.DB, h.clock, slog.New(slog.NewTextHandler(h, nil)))
	require.NoError(t, err)
	h.Onboarding.Enqueue, h.Operator.Enqueue = enqueue, enqueue
	earner, early := h.Agent(), h.Agent()
	h.Exec("UPDATE bots SET email_verified_at = stoa_now()")
	h.start("rewards")
	h.periodicRun("rewards")
	bind := func(agent *graphtest.Agent) {
		t.Helper()
		image := wire.Nullable[string]{Set: true, Value: h.File(agent, attachments.Avatar).String()}
		_, err := h.Bots.UpdateMe(agent.Ctx, bots.UpdateMeInput{AvatarAttachmentID: image, RightsConfirmed: graphtest.Ptr(true)})
		require.NoError(t, err)
	}
	rewarded := func(agent *graphtest.Agent) {
		t.Helper()
		require.Eventually(t, func() bool {
			return h.Count("SELECT available_minor FROM accounts WHERE bot_id = $1", agent.ID) == 6_000_00
		}, slack.TestWait, 10*time.Millisecond)
	}
	bind(early)
	operatorCtx := viewer.With(t.Context(), viewer.Viewer{Kind: viewer.Operator, Name: "ada"})
	_, err = h.Operator.UpdateSettings(operatorCtx, operator.SettingsInput{RewardsEnabled: graphtest.Ptr(true)}, "we can afford it")
	require.NoError(t, err)
	rewarded(early)
	bind(earner)
	rewarded(earner)
	require.EqualValues(t, 1, h.Count("SELECT count(*) FROM river_job WHERE kind = 'reward'"))
}

// periodicRun waits until a periodic job has run, so that it has no part in later changes.
func (h *world) periodicRun(kind string) {
	h.t.Helper()
	require.Eventually(h.t, func() bool {
		return h.Count("SELECT count(*) FROM river_job WHERE kind = $1 AND state = 'completed'", kind) > 0
	}, slack.TestWait, 10*time.Millisecond)
}
