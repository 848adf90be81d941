package rest_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
	"stoa/jobs"
	"stoa/jobs/inspection/inspectiontest"
	"stoa/rest"
)

// A PDF of 1.5 million strokes, a JPEG of 480 scans, four of each, and uploads that hold all other places and send next to nothing:
// another agent's file is inspected after two of them at most, and the slow uploads make room for it.
func TestThrowAwayAgentsDoNotKeepOthersFromUploading(t *testing.T) {
	t.Parallel()
	quotas := limits.Quotas{UploadsPerAgent: 4, Uploads: 32, Inspections: 2, InspectionSecondsPerHour: 600}
	timeouts := httpserver.DefaultTimeouts()
	timeouts.Body.Time = 10 * time.Minute // else the slow ones end by themselves on a busy machine
	s := serveWithin(t, graphtest.New(t, graphtest.WithQuotas(quotas)), rest.Config{}, timeouts)
	s.InspectWith(jobs.InspectFile)
	s.Attachments.InspectionWait = slack.TestWait

	var group sync.WaitGroup
	defer group.Wait()
	for _, file := range [][]byte{inspectiontest.Strokes(1_500_000), inspectiontest.Progressive(4400)} {
		agent := s.Agent()
		for range 4 {
			group.Go(func() { s.post(agent.Token, uploadForm("order", file)) })
		}
	}
	inspected := func() int64 { return s.Count("SELECT count(*) FROM attachments WHERE status <> 'pending'") }
	waiting := func() int64 { return s.Count("SELECT count(*) FROM attachments WHERE status = 'pending'") }
	require.Eventually(t, func() bool { return inspected()+waiting() == 8 }, slack.TestWait, 10*time.Millisecond)
	slow := make([]net.Conn, 32)
	for i := range 8 {
		agent := s.Agent()
		for j := range 4 {
			slow[4*i+j] = s.stalled(agent.Token, 1000, false)
		}
	}
	require.Eventually(t, func() bool { return s.Count("SELECT count(*) FROM upload_reservations") == 32 }, slack.TestWait, 10*time.Millisecond)

	fourth := s.Agent()
	require.Eventually(t, func() bool {
		return s.post(fourth.Token, uploadForm("order", pngOf(t, 8, 8))).status == http.StatusCreated
	},
		slack.TestWait, time.Millisecond)
	require.LessOrEqual(t, inspected(), int64(1+5), "the files that came before are still being inspected")
	require.Positive(t, waiting())

	for _, conn := range slices.Backward(slow) { // one of them is answered, and its connection closed
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(100*time.Millisecond)))
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			continue
		}
		require.Equal(t, http.StatusTooManyRequests, response.StatusCode)
		require.NotEmpty(t, response.Header.Get("Retry-After"))
		require.NoError(t, response.Body.Close())
		for _, conn := range slow {
			require.NoError(t, conn.Close())
		}
		return
	}
	require.Fail(t, "no slow upload made room")
}

// The processor time of an hour: further files wait, a repeat is answered, and others are not concerned.
func TestProcessorTimeOfAnAgentIsBounded(t *testing.T) {
	t.Parallel()
	s := newFileSite(t, graphtest.WithQuotas(limits.Quotas{InspectionSecondsPerHour: 600}))
	agent := s.Agent()
	first := uploadForm("order", pngOf(t, 8, 8))
	s.post(agent.Token, first).ok(http.StatusCreated)
	spent := fmt.Sprintf("SELECT count(*) FROM storage_usage WHERE inspection_seconds > 0 AND inspection_seconds < 600 AND agent_id = '%s'", agent.ID)
	require.EqualValues(t, 1, s.Count(spent), "the inspection was charged")

	s.Exec("UPDATE storage_usage SET inspection_seconds = 700 WHERE agent_id = $1", agent.ID)
	more := uploadForm("order", pngOf(t, 9, 9))
	busy := s.post(agent.Token, more)
	busy.fault(http.StatusTooManyRequests, fault.UploadBusy)
	require.Regexp(t, "^(5|6)[0-9][0-9]$", busy.header.Get("Retry-After"), "100 s of a sixth of a second each second")
	require.EqualValues(t, 1, s.Count("SELECT count(*) FROM attachments"), "nothing is recorded")
	s.post(agent.Token, first).ok(http.StatusOK)
	s.post(s.Agent().Token, uploadForm("order", pngOf(t, 8, 8))).ok(http.StatusCreated)

	s.Exec("UPDATE storage_usage SET inspected_at = inspected_at - interval '10 minutes' WHERE agent_id = $1", agent.ID)
	s.post(agent.Token, more).ok(http.StatusCreated)
	require.True(t, strings.HasPrefix(busy.header.Get("Content-Type"), "application/json"))
}
