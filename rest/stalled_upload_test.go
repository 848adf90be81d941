package rest_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
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
	"stoa/rest"
)

// stalled starts an upload that sends most of its body and then nothing.
func (s *site) stalled(token string, size int, chunked bool) net.Conn {
	s.t.Helper()
	body, contentType := encode(s.t, uploadForm("order", make([]byte, size)))
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(s.t, err)
	length := fmt.Sprintf("Content-Length: %d", len(body))
	body = body[:len(body)-size/10]
	if chunked {
		length = "Transfer-Encoding: chunked"
		body = fmt.Appendf(nil, "%x\r\n%s\r\n", len(body), body)
	}
	_, err = fmt.Fprintf(conn, "POST /api/v1/attachments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\n%s\r\n\r\n%s",
		token, contentType, length, body)
	if err != nil { // refused before it was sent, as it may be
		s.t.Log(err)
	}
	return conn
}

// sizeOf returns the size of the files below a folder, in bytes.
func sizeOf(t testing.TB, folder string) (n int64) {
	t.Helper()
	for _, path := range filesIn(t, folder) {
		if info, err := os.Stat(path); err == nil {
			n += info.Size()
		}
	}
	return n
}

// Stalled uploads of one agent take less disk space than its budget. Another agent can upload meanwhile. When their connections
// end, nothing of them is left.
func TestStalledUploads(t *testing.T) {
	t.Parallel()
	const budget, size, places = 2 << 20, 400_000, 4
	uploads := 110
	if testing.Short() {
		uploads = 20
	}
	for name, chunked := range map[string]bool{"length announced": false, "chunked": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timeouts := httpserver.DefaultTimeouts()
			timeouts.Body.Time = 10 * time.Minute // otherwise, on a busy machine, the first uploads time out while the others still connect
			world := graphtest.New(t, graphtest.WithQuotas(limits.Quotas{StorageBytesPerAgent: budget, UploadsPerAgent: places, Uploads: 32}))
			s := serveWithin(t, world, rest.Config{}, timeouts)
			folder := s.InspectWith(jobs.InspectFile)
			agent, other := s.Agent(), s.Agent()
			conns := make([]net.Conn, uploads)
			var group sync.WaitGroup
			for i := range conns {
				group.Go(func() { conns[i] = s.stalled(agent.Token, size, chunked) })
			}
			group.Wait()
			answers := make(chan *answer, uploads)
			for _, conn := range conns {
				go func() {
					response, err := http.ReadResponse(bufio.NewReader(conn), nil)
					if err != nil {
						return // one of the accepted uploads
					}
					defer response.Body.Close()
					raw, _ := io.ReadAll(response.Body) // a missing part shows below
					answers <- newAnswer(t, response, raw)
				}()
			}
			for range uploads - places {
				refused := <-answers
				if refused.status == http.StatusServiceUnavailable {
					continue // the database of a busy machine was too slow to decide
				}
				refused.fault(http.StatusTooManyRequests, fault.UploadBusy)
				require.NotEmpty(t, refused.header.Get("Retry-After"))
			}
			require.Eventually(t, func() bool { return sizeOf(t, folder) > size }, slack.TestWait, 10*time.Millisecond)
			require.LessOrEqual(t, sizeOf(t, folder), int64(budget))
			require.EqualValues(t, places, s.Count("SELECT count(*) FROM upload_reservations"))
			s.attach(other, "order", pngOf(t, 8, 8))

			for _, conn := range conns {
				require.NoError(t, conn.Close())
			}
			require.Eventually(t, func() bool {
				return s.Count("SELECT count(*) FROM upload_reservations") == 0 && len(filesIn(t, folder)) == 2
			}, slack.TestWait, 10*time.Millisecond)
			s.attach(agent, "order", pngOf(t, 8, 8))
		})
	}
}
