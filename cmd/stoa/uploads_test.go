package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/child"
	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
	"stoa/jobs/inspection"
)

// uploadRequest is one upload that is sent again and again.
type uploadRequest struct {
	contentType string
	body        []byte
}

// largeUpload returns an upload whose inspection takes about a second.
func largeUpload() *uploadRequest {
	body, contentType := uploadForm("portfolio", blankJPEG(5000, 3800))
	return &uploadRequest{contentType, body}
}

// send uploads the file and returns the answer. If no answer comes, the status is 0.
func (u *uploadRequest) send(s *testServer, by *testAgent) *httpAnswer {
	request := s.request(http.MethodPost, s.url+"/api/v1/attachments", by.Token(), u.contentType, u.body)
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return new(httpAnswer)
	}
	defer response.Body.Close()
	raw, _ := io.ReadAll(response.Body) // an answer that is cut off has no code
	return &httpAnswer{status: response.StatusCode, header: response.Header, raw: raw}
}

// begin sends the upload while the test goes on.
func (u *uploadRequest) begin(s *testServer, by *testAgent) <-chan *httpAnswer {
	answered := make(chan *httpAnswer, 1)
	go func() { answered <- u.send(s, by) }()
	return answered
}

// sendHalf sends half of the upload and leaves the connection open.
func (u *uploadRequest) sendHalf(s *testServer, by *testAgent) net.Conn {
	conn := graphtest.Got(net.Dial("tcp", strings.TrimPrefix(s.url, "http://")))(s.t)
	graphtest.OK(s.t)(fmt.Fprintf(conn, "POST /api/v1/attachments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: %s\r\nContent-Length: %d\r\n\r\n%s", by.Token(), u.contentType, len(u.body), u.body[:len(u.body)/2]))
	return conn
}

// expireLeases ends the leases of a dead process, which would end by themselves within a minute.
func expireLeases(w *graphtest.World) {
	w.Exec(`UPDATE attachments SET lease_until = now(), queued_at = now() - interval '1 minute'
		WHERE status = 'pending' AND lease_id IS NOT NULL`)
	w.Exec("UPDATE upload_reservations SET expires_at = now()")
	w.Exec("DELETE FROM river_leader")
}

const underInspection = "SELECT count(*) FROM attachments WHERE lease_id IS NOT NULL AND attempts = %d"

// filesOf lists the file store of a data folder.
func filesOf(t testing.TB, data string) (found []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Join(data, "files"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, path)
		}
		return nil // a file that cannot be read was just deleted
	}))
	return found
}

// If a server is killed again and again while it inspects a valid file, the file is not rejected: the upload fails and can be
// sent again. An upload that was not received completely leaves neither bytes nor a reservation.
func TestKilledDuringUploads(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	w := graphtest.New(t)
	settings := append([]string{"STOA_DATABASE_URL=" + w.URL, "STOA_DATA_DIR=" + t.TempDir()}, noLimits...)
	s := startServer(t, settings...)
	ada := s.join("Agent", "agent")
	upload := largeUpload()
	cut := largeUpload().sendHalf(s, ada)
	defer cut.Close()
	eventually(t, func() bool {
		return w.Count("SELECT count(*) FROM upload_reservations") == 1 && len(filesOf(t, s.data)) == 1
	}, "no upload")
	for attempt := 1; attempt <= 3; attempt++ {
		if attempt == 1 {
			upload.begin(s, ada)
		}
		release := stopInspection(t, s, w, attempt)
		s.signal(syscall.SIGSTOP) // from here on it cannot end the inspection
		release()
		children := inspectionChildren(s.cmd.Process.Pid)
		s.signal(syscall.SIGKILL)
		<-s.exited
		for _, pid := range children {
			_ = syscall.Kill(pid, syscall.SIGCONT) // it may have ended with its server
		}
		expireLeases(w)
		s = startServer(t, settings...)
	}
	eventually(t, func() bool { return w.Count("SELECT count(*) FROM attachments") == 0 }, "the upload is still there")
	eventually(t, func() bool {
		return w.Count("SELECT count(*) FROM upload_reservations") == 0 && len(filesOf(t, s.data)) == 0
	}, "bytes are left")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM failed_uploads"))
	for _, status := range []int{http.StatusCreated, http.StatusOK} {
		answer := upload.send(s, ada)
		require.Equal(t, status, answer.status, "%s", answer.raw)
	}
}

// inspectionChildren returns the descendants of a process that inspect files.
func inspectionChildren(parent int) (found []int) {
	for _, pid := range child.ChildrenOf(parent) {
		command, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid)) // it may have ended
		if bytes.Contains(command, []byte(inspection.Program)) {
			found = append(found, pid)
		}
		found = append(found, inspectionChildren(pid)...)
	}
	return found
}

// An inspection whose process is killed is repeated while the client waits.
func TestInspectionKilled(t *testing.T) {
	t.Parallel()
	w, s := ownServer(t)
	answered := largeUpload().begin(s, s.join("Agent", "agent"))
	release := stopInspection(t, s, w, 1)
	eventually(t, func() bool { return len(inspectionChildren(s.cmd.Process.Pid)) > 0 }, "the attempt has no child")
	release()
	signalInspection(s, syscall.SIGKILL)
	answer := <-answered
	require.Equal(t, http.StatusCreated, answer.status, "%s", answer.raw)
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM attachments WHERE attempts = 2 AND status = 'ready'"))
}

func signalInspection(s *testServer, signal syscall.Signal) {
	for _, pid := range inspectionChildren(s.cmd.Process.Pid) {
		_ = syscall.Kill(pid, signal) // it may have ended
	}
}

// stopInspection stops the children of a server until one of them inspects a file in that attempt. It stops children until
// release is called: the child of this attempt may begin after the attempt was seen.
func stopInspection(t testing.TB, s *testServer, w *graphtest.World, attempt int) (release func()) {
	t.Helper()
	var stopper sync.WaitGroup
	released := make(chan struct{})
	release = sync.OnceFunc(func() { close(released); stopper.Wait() })
	t.Cleanup(release)
	stopper.Go(func() {
		for tick := time.Tick(5 * time.Millisecond); ; {
			select {
			case <-released:
				return
			case <-tick:
				signalInspection(s, syscall.SIGSTOP)
			}
		}
	})
	eventually(t, func() bool { return w.Count(fmt.Sprintf(underInspection, attempt)) == 1 }, "no inspection")
	return release
}

// After an outage of the database during an inspection, the upload is ready by the same inspection.
func TestDatabaseOutageDuringUpload(t *testing.T) {
	t.Parallel()
	w := graphtest.New(t)
	c := graphtest.NewDatabaseProxy(t, w.URL)
	s := startServer(t, append([]string{"STOA_DATABASE_URL=" + c.URL}, noLimits...)...)
	ada := s.join("Agent", "agent")
	upload := largeUpload()
	answered := upload.begin(s, ada)
	eventually(t, func() bool { return w.Count(fmt.Sprintf(underInspection, 1)) == 1 }, "no inspection")
	time.Sleep(slack.Of(20 * time.Millisecond)) // other sessions see a commit before its answer arrives, and without the answer nothing is inspected
	c.Cut()
	require.Equal(t, http.StatusServiceUnavailable, (<-answered).status)
	eventually(t, func() bool {
		return slices.ContainsFunc(filesOf(t, s.data), func(path string) bool { return strings.HasSuffix(path, ".preview") })
	}, "the inspection does not end")
	c.Open()
	eventually(t, func() bool { return w.Count("SELECT count(*) FROM attachments WHERE status = 'ready'") == 1 }, "not ready")
	require.EqualValues(t, 1, w.Count("SELECT count(*) FROM attachments WHERE attempts = 1"))
	requireAvailable(t, s, ada)
	require.Equal(t, http.StatusOK, upload.send(s, ada).status)
}
