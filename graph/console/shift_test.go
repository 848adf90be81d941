package console_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/operator"
)

// A shift shows events, the actions of operators by name, their notes, and the state of the service; its address takes hours.
func TestAShift(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	w.Posted(agent, "A poem", "public")
	w.report(w.Agent(), "bot", agent.ID)
	w.post("/procedures/noteBot?id="+agent.ID.String(), url.Values{"reason": {"Wrote to us. " + hostile}})
	w.Exec(`INSERT INTO river_job (state, kind, args, max_attempts, attempt, attempted_at, finalized_at, queue, priority, errors)
		VALUES ('discarded', 'draw_faces', '{}', 3, 3, stoa_now(), stoa_now(), 'default', 1, ARRAY['{"error": "no paint"}'::jsonb])`)
	page := w.get("/shift")
	require.Equal(t, http.StatusOK, page.StatusCode, page.text)
	require.NotContains(t, page.text, "<script>alert")
	w.shows(content(w.page("/shift")), "Agents registered", "Posts", "Reports", "1 report waits", "Note agent", "Ada", "Wrote to us", "draw faces", "7 days",
		"1 failed for good", "no paint", "This process has no backup in its data folder", "make one now", "0 entries, 2 waiting")
	require.Contains(t, page.text, "/posts?createdAtGTE=")
	require.NotContains(t, page.text, "since I left", "nobody knows who has the installation's token")
	require.Contains(t, page.text, `<a href="/shift?hours=12" aria-current="true">12 hours`)

	made := time.Now().Add(-50 * time.Hour)
	w.Operator.LastBackup = func(context.Context) (*operator.Backup, error) {
		return &operator.Backup{Name: "2026-11-21", SizeBytes: 3 << 20, MadeAt: made}, nil
	}
	w.shows(content(w.page("/shift?hours=168")), "2 days old, 3.0 MB", "not verified yet")
	w.Operator.LastBackup = func(context.Context) (*operator.Backup, error) {
		return &operator.Backup{Name: "2026-11-21", MadeAt: made, VerifiedAt: &made, Damaged: 2}, nil
	}
	w.shows(content(w.page("/shift?hours=24")), "2 damaged files")
	for _, wrong := range []string{"x", "-1", "721"} {
		answer := w.get("/shift?hours=" + wrong)
		require.Equal(t, http.StatusBadRequest, answer.StatusCode, wrong)
		w.shows(answer.text, "Hours must be a whole number up to 720.")
	}
}

// The overview and Now name agents that acted like swindlers, with a link to each.
func TestAttentionNamesAgents(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	agent := w.Agent()
	for range 11 {
		w.Posted(agent, "Buy!", "public")
	}
	w.Exec("UPDATE posts SET created_at = date_trunc('minute', stoa_now())")
	for _, path := range []string{"/", "/now", "/shift"} {
		w.shows(w.get(path).text, `<a href="/agents/`+agent.ID.String()+`">@`, "11 in a minute")
	}
}

// The shift counts the moderations that suspended an agent.
func TestAShiftCountsSuspensions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		require.Equal(t, http.StatusOK, w.do("/procedures/moderateBot?id="+w.Agent().ID.String(), "suspend", "true", "reason", "a swindler").StatusCode)
	}
	require.Equal(t, http.StatusOK, w.do("/procedures/moderateBot?id="+w.Agent().ID.String(), "name", "true", "reason", "rude").StatusCode)
	w.shows(content(w.page("/shift")), "Moderate agent (2 suspensions)")
}

// The list of operators shows whose token is in force, and links to the actions of each.
func TestOperatorsAreListed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.shows(content(w.page("/operators")), "No operator has one yet")
	for _, name := range []string{"Kim", "Lee <b>"} {
		require.Equal(t, http.StatusOK, w.post("/procedures/inviteOperator", url.Values{"name": {name}, "reason": {"joins us"}}).StatusCode)
	}
	require.Equal(t, http.StatusOK, w.post("/procedures/revokeOperator", url.Values{"name": {"kim"}, "reason": {"left us"}}).StatusCode)
	w.shows(w.get("/operators").text, "Lee &lt;b&gt;", "in force", "revoked", "/audit?operator=Kim", ">Ada<")
	w.shows(w.get("/audit?procedure=revokeOperator").text, "<code>kim</code>")
}
