package jobs_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/metrics"
	"stoa/graph/platform/slack"
	"stoa/jobs"
)

// shown returns /metrics of a new process of this world, so that no value is cached.
func (h *world) shown() string {
	h.t.Helper()
	m := metrics.New("test")
	m.Probe(h.Events.Metrics, h.Attachments.Metrics, jobs.Metrics(h.DB.SQL), h.Wallet.Metrics)
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	require.Contains(h.t, answer.Body.String(), "stoa_database_probe_failed 0")
	return answer.Body.String()
}

// Broken books show on every process, not only on the one that found them.
func TestBrokenBooksMoveTheAlarm(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	agent := h.Agent()
	require.NotContains(t, h.shown(), "stoa_ledger_discrepancies{", "nobody has looked yet")
	h.Exec("ALTER TABLE ledger_entries DISABLE TRIGGER ledger_entries_append_only")
	h.Exec("UPDATE ledger_entries SET delta_minor = delta_minor + 1 WHERE bot_id = $1", agent.ID)
	h.start("reconcile")
	require.Eventually(t, func() bool {
		return strings.Contains(h.shown(), `stoa_ledger_reconciled_timestamp_seconds{scope="new"}`)
	}, slack.TestWait, 50*time.Millisecond)
	text := h.shown()
	require.Contains(t, text, `stoa_ledger_discrepancies{check="transaction_balance"} 1`)
	require.Contains(t, text, `stoa_ledger_discrepancies{check="available_balance"} 1`)
	require.Contains(t, text, `stoa_ledger_discrepancies{check="ledger_triggers"} 1`)
	require.Contains(t, text, `stoa_ledger_discrepancies{check="order_reserve"} 0`)
}

// The age of the outbox follows the database clock; an agent that is not connected counts for one of the two figures only.
func TestOldEventsMoveTheAge(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	one, other := h.Friends()
	h.Exec("DELETE FROM events")
	text := h.shown()
	require.Contains(t, text, "\nstoa_outbox_events 0\n")
	require.Contains(t, text, "\nstoa_outbox_oldest_seconds 0\n")
	h.Sent(one, other)
	h.Exec("UPDATE events SET created_at = stoa_now() - interval '1 hour'")
	text = h.shown()
	require.Contains(t, text, "\nstoa_outbox_events 1\n")
	require.Regexp(t, `\nstoa_outbox_oldest_seconds 36\d\d`, text)
	require.Contains(t, text, "\nstoa_outbox_connected_oldest_seconds 0\n")
	h.connect(other)
	require.Regexp(t, `\nstoa_outbox_connected_oldest_seconds 36\d\d`, h.shown())
	h.Shift(time.Hour)
	require.Regexp(t, `\nstoa_outbox_connected_oldest_seconds 72\d\d`, h.shown())
}

func TestUploadsAndJobsThatWait(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	agent := h.Agent()
	waiting, running := h.File(agent, "portfolio"), h.File(agent, "portfolio")
	h.Exec("UPDATE attachments SET status = 'pending', created_at = stoa_now() - interval '1 hour' WHERE id IN ($1, $2)", waiting, running)
	h.Exec("UPDATE attachments SET lease_id = gen_random_uuid(), lease_until = stoa_now() + interval '1 minute' WHERE id = $1", running)
	h.Exec(`INSERT INTO river_job (kind, queue, args, max_attempts, scheduled_at) VALUES ('inspect', 'inspection', '{}', 1, now() - interval '1 hour')`)
	text := h.shown()
	require.Contains(t, text, "\nstoa_inspections_waiting 1\n")
	require.Contains(t, text, "\nstoa_inspections_running 1\n")
	require.Regexp(t, `\nstoa_inspections_oldest_seconds 36\d\d`, text)
	require.Contains(t, text, "\nstoa_jobs{queue=\"inspection\",state=\"available\"} 1\n")
	require.Contains(t, text, "\nstoa_jobs{queue=\"inspection\",state=\"discarded\"} 0\n")
	require.Regexp(t, `\nstoa_jobs_oldest_available_seconds{queue="inspection"} 36\d\d`, text)
	require.Contains(t, text, "\nstoa_jobs_oldest_available_seconds{queue=\"prompt\"} 0\n")
}

// Runs are counted by how they ended; one that has no attempt left is discarded.
func TestRunsAreCounted(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	m := metrics.New("test")
	config := h.config()
	config.Metrics = m
	h.Exec("ALTER TABLE accounts RENAME TO hidden") // so that reconcile fails
	running, err := jobs.StartPolling(t.Context(), config, never, "activity", "reconcile")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, running.Stop(context.Background())) })
	for _, line := range []string{
		`stoa_job_runs_total{kind="activity",outcome="completed"} 1`,
		`stoa_job_runs_total{kind="reconcile",outcome="discarded"} 1`,
		`stoa_job_runs_total{kind="inspect",outcome="failed"} 0`,
		`stoa_job_duration_seconds_count{kind="reconcile"} 1`,
	} {
		require.Eventually(t, func() bool {
			answer := httptest.NewRecorder()
			m.Handler().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
			return strings.Contains(answer.Body.String(), line)
		}, slack.TestWait, time.Millisecond, line)
	}
}
