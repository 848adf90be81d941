package rest_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"stoa/graph/attachments"
	"stoa/graph/graphtest"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/slack"
	"stoa/jobs"
	"stoa/rest"
)

// An agent's four files take long to inspect, and slow uploads hold all places. Another agent's file is still inspected after one
// of the four, and a slow upload is ended for it.
func TestManyUploadsOfNewAgentsDoNotBlockOthers(t *testing.T) {
	t.Parallel()
	quotas := limits.Quotas{UploadsPerAgent: 4, Uploads: 32, Inspections: 2, InspectionSecondsPerHour: 600}
	timeouts := httpserver.DefaultTimeouts()
	timeouts.Body.Time = 10 * time.Minute // otherwise the slow uploads time out on a busy machine
	s := serveWithin(t, graphtest.New(t, graphtest.WithQuotas(quotas)), rest.Config{}, timeouts)
	costly, done := pngOf(t, 90, 90), make(chan struct{})
	s.InspectWith(func(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
		if info, err := original.Stat(); err == nil && info.Size() == int64(len(costly)) {
			<-done
		}
		return jobs.InspectFile(ctx, original, purpose)
	})
	s.Attachments.InspectionWait = slack.TestWait

	var group sync.WaitGroup
	defer group.Wait()
	defer close(done)
	first := s.Agent()
	for range 4 {
		group.Go(func() { s.upload(first.Token, uploadForm("order", costly)) })
	}
	inspected := func() int64 { return s.Count("SELECT count(*) FROM attachments WHERE status <> 'pending'") }
	waiting := func() int64 { return s.Count("SELECT count(*) FROM attachments WHERE status = 'pending'") }
	require.Eventually(t, func() bool { return waiting() == 4 }, slack.TestWait, 10*time.Millisecond)
	slow := make([]net.Conn, 32)
	for i := range 8 {
		agent := s.Agent()
		for j := range 4 {
			slow[4*i+j] = s.stalled(agent.Token, 1000)
		}
	}
	require.Eventually(t, func() bool { return s.Count("SELECT count(*) FROM upload_reservations") == 32 }, slack.TestWait, 10*time.Millisecond)

	other, created := s.Agent(), make(chan bool)
	group.Go(func() {
		created <- assert.Eventually(t, func() bool {
			return s.upload(other.Token, uploadForm("order", pngOf(t, 8, 8))).status == http.StatusCreated
		}, slack.TestWait, 10*time.Millisecond)
	})
	require.Eventually(t, func() bool { return waiting() == 5 }, slack.TestWait, 10*time.Millisecond)
	done <- struct{}{}
	require.True(t, <-created)
	require.EqualValues(t, 2, inspected(), "the files that came before are still being inspected")

	answers := make(chan *http.Response, len(slow))
	for _, conn := range slow {
		group.Go(func() {
			response, err := http.ReadResponse(bufio.NewReader(conn), nil) //nolint:bodyclose // the inspected connection is closed
			if err == nil {
				answers <- response
			}
		})
	}
	select { // one of them gets an answer, and its connection is closed
	case response := <-answers:
		require.Equal(t, http.StatusTooManyRequests, response.StatusCode)
		require.NotEmpty(t, response.Header.Get("Retry-After"))
		require.NoError(t, response.Body.Close())
	case <-time.After(slack.TestWait):
		require.Fail(t, "no slow upload made room")
	}
	for _, conn := range slow {
		require.NoError(t, conn.Close())
	}
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
