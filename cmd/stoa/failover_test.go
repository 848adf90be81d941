package main

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/rest/client"
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
