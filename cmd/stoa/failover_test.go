package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

// The primary ends and its standby replaces it: clients receive 503 meanwhile, and everything works afterwards, without a
// restart.
func TestFailover(t *testing.T) {
	nightly(t)
	t.Parallel()
	primary := newPrimary(t)
	standby := primary.newStandby()
	address := bothHosts(primary, standby)
	s := startServer(t, append(noLimits, "STOA_DATABASE_URL="+address)...)
	ada, ben := register(t, s), register(t, s)
	require.NoError(t, ada.Connect(t.Context()))
	cora, err := registerAgent(t.Context(), s.client(), "Cora", "cora")
	require.NoError(t, err)
	require.NoError(t, cora.Befriend(t.Context(), ada))
	require.NoError(t, ada.Events.Take("contact.requested", new(any)), "admission comes after the handshake")

	primary.stop()
	eventually(t, func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable }, "ready without a primary")
	requireUnavailable(t, s, ada)
	got, err := s.client().Send(t.Context(), http.MethodPatch, "/bots/me", ada.Token, map[string]string{"bio": "Moving."})
	require.NoError(t, err)
	require.NoError(t, got.Refused(http.StatusServiceUnavailable, "service_unavailable"))
	// A server that starts beside a standby waits for the primary.
	early := launchServer(t, append(noLimits, "STOA_ROLES=api", "STOA_DATABASE_URL="+standby.url)...)
	require.Contains(t, early.waitForLog("waiting for the database")["error"], "hot standby")
	require.Equal(t, "service_unavailable", early.get("/api/v1/bots/me").code())

	standby.promote()
	requireAvailable(t, s, ada)
	early.waitForLog("serving")
	eventually(t, func() bool { return ben.Befriend(t.Context(), ada) == nil }, "no friendship")
	require.NoError(t, ada.Events.Take("contact.requested", new(any)), "the socket hears of it")
	require.NotEmpty(t, s.uploadImage(ada, "portfolio"), "jobs run")
	code, _, complaints := runProgram(t, []string{"backup"}, "STOA_DATABASE_URL="+address, "STOA_DATA_DIR="+s.data)
	require.Zero(t, code, "a backup finds the primary: %s", complaints)
}
