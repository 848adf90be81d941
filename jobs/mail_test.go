package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/ent/mail"
	"stoa/graph/email"
	"stoa/graph/graphtest"
	"stoa/graph/operator"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/slack"
	"stoa/graph/platform/viewer"
	"stoa/jobs"
)

// A mail that is not accepted waits as a snoozed job, which holds nothing but the mail's id, and is sent by the next attempt.
func TestMailIsTriedAgain(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	var open atomic.Bool
	box := &graphtest.Mailbox{Refuse: func(*email.Message) error {
		if !open.Load() {
			return errors.New("451 later")
		}
		return nil
	}}
	h.enqueueMail(box)
	running := h.start()
	const snoozed = `SELECT count(*) FROM river_job WHERE kind = 'send_mail' AND queue = 'mail' AND state = 'scheduled'
		AND scheduled_at > now() + interval '3 seconds' AND attempt < max_attempts
		AND NOT EXISTS (SELECT FROM jsonb_object_keys(args) k WHERE k <> 'mail_id')`
	require.Eventually(t, func() bool { return h.Count(snoozed) == 1 }, slack.TestWait, 10*time.Millisecond)
	require.NoError(t, running.Stop(t.Context()))
	require.Empty(t, box.To("ada@example.org"))
	open.Store(true)
	h.Exec("UPDATE river_job SET state = 'available', scheduled_at = now() WHERE kind = 'send_mail'")
	h.start()
	require.Eventually(t, func() bool { return h.Count("SELECT count(*) FROM mails WHERE sent_at IS NOT NULL") == 1 }, slack.TestWait, 10*time.Millisecond)
	require.Len(t, box.To("ada@example.org"), 1)
}

// The time of the next attempt is written in the database's time, whatever the clock of the host shows.
func TestRetriesGoByTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	require.WithinDuration(t, time.Now(), h.clock.Now(), time.Minute, "both are on this machine")

	h.enqueueMail(&graphtest.Mailbox{Refuse: func(*email.Message) error { return errors.New("451 later") }})
	config := h.config()
	config.Clock = jobs.Ahead(time.Hour)
	running := graphtest.Got(jobs.StartPolling(t.Context(), config, time.Second))(t)
	const later = "SELECT count(*) FROM river_job WHERE kind = 'send_mail' AND state = 'scheduled' AND scheduled_at > now() + interval '1 hour'"
	require.Eventually(t, func() bool { return h.Count(later) == 1 }, slack.TestWait, 10*time.Millisecond)
	require.NoError(t, running.Stop(t.Context()))
}

// The time from which a job may begin is written in the database's time, too.
func TestJobsBeginByTheClockOfTheDatabase(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	h.clock = jobs.Ahead(-time.Hour)
	h.enqueueMail(new(graphtest.Mailbox))
	require.EqualValues(t, 1, h.Count("SELECT count(*) FROM river_job WHERE state = 'available' AND scheduled_at < now() - interval '59 minutes'"))
}

// A process that dies between taking the job of a mail and claiming the mail delays it by little more than the job's time limit.
func TestTheJobOfADeadProcessIsRunAgain(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	box := new(graphtest.Mailbox)
	h.enqueueMail(box)
	h.Exec("UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() - interval '61 seconds', attempted_by = '{dead}'")
	running := graphtest.Got(jobs.StartPolling(t.Context(), h.config(), time.Second))(t)
	t.Cleanup(func() { require.NoError(t, running.Stop(context.Background())) })
	require.Eventually(t, func() bool { return len(box.To("ada@example.org")) == 1 }, slack.TestWait, 10*time.Millisecond)
}

// enqueueMail asks for a mail to ada@example.org, which goes to a box.
func (h *world) enqueueMail(box *graphtest.Mailbox) {
	h.t.Helper()
	h.Email.Mailer, h.Email.From = box, &netmail.Address{Address: "stoa@stoa.example"}
	insert := graphtest.Got(jobs.NewEnqueue(h.DB, h.clock, slog.New(slog.DiscardHandler)))(h.t)
	h.Email.InsertJob = insert
	require.NoError(h.t, h.DB.Tx(h.t.Context(), func(ctx context.Context, tx *db.Tx) error {
		_, err := h.Email.Enqueue(ctx, tx, email.Mail{Kind: mail.KindTest, To: "ada@example.org"})
		return err
	}))
}

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

// A discrepancy of the ledger shows on every process, not only on the one that found it.
func TestEveryProcessShowsDiscrepancies(t *testing.T) {
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

// Runs are counted by how they ended; a job without attempts left is discarded.
func TestRunsAreCounted(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	m := metrics.New("test")
	config := h.config()
	config.Metrics = m
	h.Exec("ALTER TABLE accounts RENAME TO hidden") // so that reconcile fails
	running := graphtest.Got(jobs.StartPolling(t.Context(), config, never, "activity", "reconcile"))(t)
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

// dashboard returns a function that sends requests to a new dashboard.
func (h *world) dashboard(database *db.DB) func(who viewer.Viewer, method, path, body string) *httptest.ResponseRecorder {
	h.t.Helper()
	made := graphtest.Got(jobs.NewDashboard(jobs.Config{Graph: h.Graph, DB: database, Logger: slog.New(slog.NewTextHandler(h, nil))}))(h.t)
	h.t.Cleanup(made.Stop)
	return func(who viewer.Viewer, method, path, body string) *httptest.ResponseRecorder {
		request, answer := httptest.NewRequest(method, path, strings.NewReader(body)), httptest.NewRecorder()
		made.ServeHTTP(answer, request.WithContext(viewer.With(request.Context(), who)))
		return answer
	}
}

// Besides the guard of the mount, nothing changes without an operator in the context, or without an audit entry.
func TestOnlyOperatorsActOnTheDashboard(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	ask := h.dashboard(h.DB)
	h.Exec("INSERT INTO river_queue (name, updated_at) VALUES ('maintenance', now())")
	paused := func() int64 {
		return h.Count("SELECT count(*) FROM river_queue WHERE paused_at IS NOT NULL")
	}
	pause := func(who viewer.Viewer) *httptest.ResponseRecorder {
		return ask(who, http.MethodPut, "/jobs/api/queues/maintenance/pause", "{}")
	}
	for _, kind := range []viewer.Kind{viewer.Anonymous, viewer.Agent} {
		require.Equal(t, http.StatusUnauthorized, pause(viewer.Viewer{Kind: kind}).Code)
	}
	h.Exec("ALTER TABLE audit_entries RENAME TO elsewhere")
	refused := pause(viewer.Viewer{Kind: viewer.Operator, Name: "Ada"})
	require.Equal(t, http.StatusInternalServerError, refused.Code)
	require.NotContains(t, refused.Body.String(), "elsewhere")
	require.Zero(t, paused())
	h.Exec("ALTER TABLE elsewhere RENAME TO audit_entries")
	require.Equal(t, http.StatusOK, pause(viewer.Viewer{Kind: viewer.Operator, Name: "Ada"}).Code)
	require.EqualValues(t, 1, paused())
	require.EqualValues(t, 1, h.Count("SELECT count(*) FROM audit_entries WHERE operator = 'Ada' AND procedure = 'jobs.pauseQueue' AND target = 'maintenance'"))
}

// The audit log keeps only the jobs and the queue that an act concerns.
func TestActsAreReadStrictly(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	ask := h.dashboard(h.DB)
	act := func(method, path, body string) *httptest.ResponseRecorder {
		return ask(viewer.Viewer{Kind: viewer.Operator, Name: "Ada"}, method, "/jobs/api/"+path, body)
	}
	for _, body := range []string{
		`{"ids":["1"],"ids":["2"]}`, `{"ids":["1"],"IDs":["2"]}`, `{"ids":["1"],"note":"\u0000"}`, `{"ids":["\u0000"]}`, `{"ids":["one"]}`, `null`,
		`{"ids":["1"],"note":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`,
	} {
		require.Equal(t, http.StatusBadRequest, act(http.MethodPost, "jobs/cancel", body).Code, "%.60s", body)
	}
	for _, queue := range []string{"a%00b", "%ff", strings.Repeat("a", 65)} {
		require.Equal(t, http.StatusBadRequest, act(http.MethodPut, "queues/"+queue+"/pause", "").Code, queue)
	}
	require.Equal(t, http.StatusMethodNotAllowed, act(http.MethodPatch, "queues/maintenance", `{"concurrency":null}`).Code)
	require.Zero(t, h.Count("SELECT count(*) FROM audit_entries"))
	require.Equal(t, http.StatusNotFound, act(http.MethodPost, "jobs/cancel", `{"ids":["4611686018427387904"]}`).Code)
	require.EqualValues(t, 1, h.Count(`SELECT count(*) FROM audit_entries WHERE details = '{"ids": ["4611686018427387904"]}'`))
}

// The console's filter of the audit log offers every action of the dashboard.
func TestTheConsoleOffersEveryActOfTheDashboard(t *testing.T) {
	t.Parallel()
	for _, name := range jobs.Actions() {
		require.Contains(t, operator.Acts(), "jobs."+name)
	}
}

// While the database is away the page fails for a while, not permanently.
func TestTheDashboardWaitsForTheDatabase(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	own := graphtest.Got(db.Open(h.URL, db.Options{}))(t)
	ask := h.dashboard(own)
	show := func() *httptest.ResponseRecorder { return ask(viewer.Viewer{}, http.MethodGet, "/jobs/api/queues", "") }
	require.Equal(t, http.StatusOK, show().Code)
	h.Exec("ALTER TABLE river_queue RENAME TO elsewhere")
	require.Equal(t, http.StatusInternalServerError, show().Code)
	require.NoError(t, own.Close())
	refused := show()
	require.Equal(t, http.StatusServiceUnavailable, refused.Code)
	require.NotEmpty(t, refused.Header().Get("Retry-After"))
	require.True(t, h.logged(`msg="request refused"`))
}

// The dashboard opens on jobs that failed for good within a day, else on jobs that are tried again, else on waiting jobs; its
// pages lead back to the console.
func TestTheDashboardOpensOnFailedJobs(t *testing.T) {
	t.Parallel()
	h := newWorld(t)
	ask := h.dashboard(h.DB)
	get := func(path string) *httptest.ResponseRecorder { return ask(viewer.Viewer{}, http.MethodGet, path, "") }
	insert := func(state, finalized string) {
		h.Exec(`INSERT INTO river_job (kind, args, max_attempts, state, finalized_at) VALUES ('test', '{}', 1, $1::river_job_state, `+finalized+`)`, state)
	}
	opens := func(state string) {
		t.Helper()
		for _, path := range []string{"/jobs", "/jobs/"} {
			require.Equal(t, http.StatusSeeOther, get(path).Code)
			require.Equal(t, "/jobs/jobs?state="+state, get(path).Header().Get("Location"))
		}
	}
	h.Exec("DELETE FROM river_job")
	opens("available")
	insert("discarded", "now() - interval '2 days'")
	opens("available")
	insert("retryable", "NULL")
	opens("retryable")
	insert("discarded", "now()")
	opens("discarded")
	page := get("/jobs/jobs?state=discarded")
	require.Equal(t, http.StatusOK, page.Code)
	require.Contains(t, page.Body.String(), ">Back to the console</a></nav></body>")
	require.Contains(t, page.Body.String(), `<a href="/" `)
	require.NotContains(t, get("/jobs/api/queues").Body.String(), "console")
}
