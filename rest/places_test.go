package rest_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
	"stoa/jobs"
	"stoa/rest"
)

// A slow upload that holds the only place is ended with an answer, so that another agent's file gets in. graph/attachments proves
// which upload is ended, and the turns of inspections.
func TestASlowUploadMakesRoom(t *testing.T) {
	t.Parallel()
	timeouts := httpserver.DefaultTimeouts()
	timeouts.Body.Time = 10 * time.Minute // otherwise the slow upload times out on a busy machine
	s := serveWithin(t, graphtest.New(t, graphtest.WithQuotas(limits.Quotas{Uploads: 1})), rest.Config{}, timeouts)
	s.InspectWith(jobs.InspectFile)
	stalled, other := s.stalled(s.Agent().Token, 1000), s.Agent()
	defer stalled.Close()
	require.Eventually(t, func() bool { return s.Count("SELECT count(*) FROM upload_reservations") == 1 }, slack.TestWait, 10*time.Millisecond)
	require.Eventually(t, func() bool {
		return s.upload(other.Token, uploadForm("order", pngOf(t, 8, 8))).status == http.StatusCreated
	}, slack.TestWait, 10*time.Millisecond)
	require.NoError(t, stalled.SetDeadline(time.Now().Add(slack.TestWait)))
	response, err := http.ReadResponse(bufio.NewReader(stalled), nil)
	require.NoError(t, err)
	defer response.Body.Close()
	require.Equal(t, http.StatusTooManyRequests, response.StatusCode)
	require.NotEmpty(t, response.Header.Get("Retry-After"))
}

// If an agent's hourly processor time is used up, further files wait, a repeat is answered, and other agents are not affected.
func TestProcessorTimeOfAnAgentIsBounded(t *testing.T) {
	t.Parallel()
	s, agent := newFileSite(t, graphtest.WithQuotas(limits.Quotas{InspectionSecondsPerHour: 600})).withAgent()
	first := uploadForm("order", pngOf(t, 8, 8))
	s.upload(agent.Token, first).ok(201)
	spent := fmt.Sprintf("SELECT count(*) FROM storage_usage WHERE inspection_seconds > 0 AND inspection_seconds < 600 AND agent_id = '%s'", agent.ID)
	require.EqualValues(t, 1, s.Count(spent), "the inspection was charged")

	s.Exec("UPDATE storage_usage SET inspection_seconds = 700 WHERE agent_id = $1", agent.ID)
	more := uploadForm("order", pngOf(t, 9, 9))
	busy := s.upload(agent.Token, more).refused(fault.UploadBusy)
	require.Regexp(t, "^(5|6)[0-9][0-9]$", busy.header.Get("Retry-After"), "100 s of a sixth of a second each second")
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM attachments"), "nothing is recorded")
	s.upload(agent.Token, first).ok(200)
	s.upload(s.Agent().Token, uploadForm("order", pngOf(t, 8, 8))).ok(201)

	s.Exec("UPDATE storage_usage SET inspected_at = inspected_at - interval '10 minutes' WHERE agent_id = $1", agent.ID)
	s.upload(agent.Token, more).ok(201)
	require.True(t, strings.HasPrefix(busy.header.Get("Content-Type"), "application/json"))
}

// stalled starts an upload that stops after most of its body.
func (s *site) stalled(token string, size int) net.Conn {
	s.t.Helper()
	body, contentType := encode(s.t, uploadForm("order", make([]byte, size)))
	conn := graphtest.Got(net.Dial("tcp", strings.TrimPrefix(s.url, "http://")))(s.t)
	_, err := fmt.Fprintf(conn, "POST /api/v1/attachments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n"+
		"Content-Length: %d\r\n\r\n%s", token, contentType, len(body), body[:len(body)-size/10])
	if err != nil { // it may be refused before it is sent
		s.t.Log(err)
	}
	return conn
}
