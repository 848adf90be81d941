package main

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
	"stoa/rest/client"
)

// A task that a standby has not replayed is missing from the board for a caller without a token, until the lag exceeds the bound.
// An agent sees its own tasks at once, and services disappear with their profiles, also if the standby lags.
func TestReplica(t *testing.T) {
	t.Parallel()
	primary := newPrimary(t)
	standby := primary.newStandby()
	s := startServer(t, append(noLimits, "STOA_DATABASE_URL="+primary.url, "STOA_DATABASE_REPLICA_URL="+standby.url,
		"STOA_DATABASE_REPLICA_MAX_LAG="+slack.Of(5*time.Second).String())...)
	ada := s.join("Agent", "agent")
	direct := &http.Client{Transport: new(http.Transport)} // the operators' /readyz is not in the description
	usable := func(status string) func() bool {
		return func() bool {
			answer, err := direct.Get(s.operator + "/readyz")
			require.NoError(t, err)
			return strings.Contains(string(readAnswer(t, answer).raw), `"replica":{"status":"`+status+`"`)
		}
	}
	eventually(t, usable("ok"), "the replica is not used")
	task := postTask(t, ada)
	service := graphtest.Got(ada.CreateService(t.Context(), client.ServiceInput{Title: "Translation", Description: "Of pages."}))(t)
	eventually(t, func() bool { return s.get("/api/v1/tasks/"+task).status == http.StatusOK }, "the replica does not follow")

	standby.exec("stoa", "SELECT pg_wal_replay_pause()")
	standby.awaitPaused()
	late := postTask(t, ada)
	require.NoError(t, ada.Do(t.Context(), http.MethodGet, "/tasks/"+late, nil, nil), "its own task")
	require.Equal(t, http.StatusNotFound, s.read("/api/v1/tasks/"+late).status, "the answer is the replica's")
	require.NotContains(t, string(s.read("/api/v1/tasks").raw), late)
	require.Equal(t, http.StatusOK, s.read("/api/v1/services/"+service.ID).status)
	graphtest.OK(t)(ada.UpdateMe(t.Context(), client.UpdateBotInput{ProfilePublic: new(false)}))
	require.Equal(t, http.StatusNotFound, s.read("/api/v1/services/"+service.ID).status, "a closed profile is gone at once")

	eventually(t, func() bool { return s.get("/api/v1/tasks/"+late).status == http.StatusOK }, "the primary does not answer")
	require.True(t, usable("lagging")())
	require.Equal(t, http.StatusOK, s.get("/readyz").status, "a replica that lags is no reason not to be ready")
	require.Contains(t, string(s.fetch(s.operator+metricsPath).raw), "stoa_read_replica_usable 0")

	standby.exec("stoa", "SELECT pg_wal_replay_resume()")
	eventually(t, usable("ok"), "the replica does not catch up")
	standby.stop()
	require.Equal(t, http.StatusOK, s.read("/api/v1/tasks/"+late).status, "the primary answers what the replica cannot")
	eventually(t, usable("down"), "the replica is not missed")
}

func postTask(t testing.TB, by *testAgent) string {
	t.Helper()
	made := graphtest.Got(by.CreateTask(t.Context(), client.TaskInput{
		Title: "Translate", Description: "A page.", Deadline: time.Now().Add(time.Hour).Format(time.RFC3339), Amount: 100,
	}))(t)
	return made.ID
}

// A replica needs a database of one's own.
func TestReplicaSettings(t *testing.T) {
	t.Parallel()
	for setting, reason := range map[string]string{
		"--database-replica-url=postgres://stoa@db/stoa": "needs --database-url",
		"--database-direct-url=postgres://stoa@db/stoa":  "needs --database-url",
		"--database-replica-max-lag=10ms":                "at least 3s",
	} {
		code, _, complaints := runInProcess("serve", setting)
		require.Equal(t, 2, code, setting)
		require.Contains(t, complaints, reason)
	}
}

// The primary ends and its standby replaces it: clients receive 503 meanwhile, and everything works afterwards, without a
// restart.
func TestFailover(t *testing.T) {
	nightly(t)
	t.Parallel()
	primary := newPrimary(t)
	standby := primary.newStandby()
	address := bothHosts(primary, standby)
	s := startServer(t, append(noLimits, "STOA_DATABASE_URL="+address)...)
	ada, ben := s.join("Agent", "agent"), s.join("Agent", "agent")
	require.NoError(t, ada.connect(t.Context()))
	cora := s.join("Cora", "cora")
	require.NoError(t, cora.meet(t.Context(), ada))
	ada.Events.take(t, "contact.requested") // admission comes after the handshake

	primary.stop()
	eventually(t, func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable }, "ready without a primary")
	requireUnavailable(t, s, ada)
	_, err := ada.UpdateMe(t.Context(), client.UpdateBotInput{Bio: new("Moving.")})
	requireRefused(t, err, http.StatusServiceUnavailable, "service_unavailable")
	// A server that starts beside a standby waits for the primary.
	early := launchServer(t, append(noLimits, "STOA_ROLES=api", "STOA_DATABASE_URL="+standby.url)...)
	require.Contains(t, early.waitForLog("waiting for the database")["error"], "hot standby")
	require.Equal(t, "service_unavailable", early.get("/api/v1/bots/me").code())

	standby.promote()
	requireAvailable(t, s, ada)
	early.waitForLog("serving")
	eventually(t, func() bool { return ben.meet(t.Context(), ada) == nil }, "no friendship")
	ada.Events.take(t, "contact.requested") // it comes over the socket
	require.NotEmpty(t, s.uploadImage(ada, "portfolio"), "jobs run")
	output(t, []string{"backup"}, "STOA_DATABASE_URL="+address, "STOA_DATA_DIR="+s.data)
}
