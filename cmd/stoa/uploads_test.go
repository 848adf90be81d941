package main

import (
	"bytes"
	"database/sql"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"io/fs"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/lib/pq" // for looking at the database of a server
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/agent"
	"stoa/graph/graphtest"
	"stoa/jobs/inspection"
)

// uploading is one upload that is sent again and again.
type uploading struct {
	contentType string
	body        []byte
}

// largePhoto takes the inspection about a second.
func largePhoto(t testing.TB) *uploading {
	t.Helper()
	m := image.NewYCbCr(image.Rect(0, 0, 5000, 3800), image.YCbCrSubsampleRatio420)
	for i := range m.Y {
		m.Y[i] = byte(i >> 6)
	}
	m.Y[0] = byte(rand.Uint32())
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	require.NoError(t, form.WriteField("purpose", "portfolio"))
	require.NoError(t, form.WriteField("upload_id", uuid.NewString()))
	part, err := form.CreateFormFile("file", "a.jpg")
	require.NoError(t, err)
	require.NoError(t, jpeg.Encode(part, m, nil))
	require.NoError(t, form.Close())
	return &uploading{form.FormDataContentType(), body.Bytes()}
}

// send returns 0 where the server does not answer.
func (u *uploading) send(s *instance, by *agent.Agent) (status int, code string) {
	request, err := http.NewRequest(http.MethodPost, s.url+"/api/v1/attachments", bytes.NewReader(u.body))
	require.NoError(s.t, err)
	request.Header.Set("Content-Type", u.contentType)
	request.Header.Set("Authorization", "Bearer "+by.Token)
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	raw, _ := io.ReadAll(response.Body) // an answer that is cut off has no code
	return response.StatusCode, (&answer{raw: raw}).code()
}

// stall sends half of the upload and leaves the connection open.
func (u *uploading) stall(s *instance, by *agent.Agent) net.Conn {
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(s.t, err)
	_, err = fmt.Fprintf(conn, "POST /api/v1/attachments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s",
		by.Token, u.contentType, len(u.body), u.body[:len(u.body)/2])
	require.NoError(s.t, err)
	return conn
}

// records is the database of a server, looked at from outside.
type records struct {
	t  testing.TB
	db *sql.DB
}

func lookAt(t testing.TB, address string) *records {
	t.Helper()
	db, err := sql.Open("postgres", address)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return &records{t, db}
}

func (r *records) count(query string) (n int64) {
	require.NoError(r.t, r.db.QueryRowContext(r.t.Context(), query).Scan(&n))
	return n
}

// expire lets the time pass after which the work of a dead process is taken up.
func (r *records) expire() {
	for _, statement := range []string{
		"UPDATE attachments SET lease_until = now(), queued_at = now() - interval '1 minute' WHERE status = 'pending' AND lease_id IS NOT NULL",
		"UPDATE upload_reservations SET expires_at = now()",
		"DELETE FROM river_leader",
	} {
		_, err := r.db.ExecContext(r.t.Context(), statement)
		require.NoError(r.t, err)
	}
}

const underInspection = "SELECT count(*) FROM attachments WHERE lease_id IS NOT NULL AND attempts = %d"

// filesOf lists what is in the file store of a data folder.
func filesOf(t testing.TB, data string) (found []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(filepath.Join(data, "files"), func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			found = append(found, path)
		}
		return nil // what cannot be read has just been deleted
	}))
	return found
}

// A server that is killed while a sound photo is inspected, as often as an inspection is begun, rejects nothing: the upload is
// given up and can be sent again. An upload that was being received leaves neither bytes nor a reservation.
func TestKilledDuringUploads(t *testing.T) {
	t.Parallel()
	address := graphtest.NewDatabase(t)
	seen := lookAt(t, address)
	settings := append([]string{"STOA_DATABASE_URL=" + address, "STOA_DATA_DIR=" + t.TempDir()}, unlimited...)
	s := serve(t, settings...)
	ada := register(t, s)
	photo := largePhoto(t)
	cut := largePhoto(t).stall(s, ada)
	defer cut.Close()
	eventually(t, func() bool {
		return seen.count("SELECT count(*) FROM upload_reservations") == 1 && len(filesOf(t, s.data)) == 1
	}, "no upload")
	for attempt := 1; attempt <= 3; attempt++ {
		if attempt == 1 {
			go photo.send(s, ada)
		}
		eventually(t, func() bool { return seen.count(fmt.Sprintf(underInspection, attempt)) == 1 }, "no inspection")
		s.signal(syscall.SIGKILL)
		<-s.exited
		seen.expire()
		s = serve(t, settings...)
	}
	eventually(t, func() bool { return seen.count("SELECT count(*) FROM attachments") == 0 }, "the upload is still there")
	eventually(t, func() bool {
		return seen.count("SELECT count(*) FROM upload_reservations") == 0 && len(filesOf(t, s.data)) == 0
	}, "bytes are left")
	require.EqualValues(t, 1, seen.count("SELECT count(*) FROM failed_uploads"))
	status, code := photo.send(s, ada)
	require.Equal(t, http.StatusCreated, status, code)
	status, code = photo.send(s, ada)
	require.Equal(t, http.StatusOK, status, code)
}

// inspectors are the processes of a server that inspect files.
func inspectors(t testing.TB, server int) (found []int) {
	t.Helper()
	folders, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	parents := make(map[int]int)
	var children []int
	for _, folder := range folders {
		pid, err := strconv.Atoi(filepath.Base(folder))
		require.NoError(t, err)
		stat, _ := os.ReadFile(filepath.Join(folder, "stat")) // it may have ended
		command, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
		if _, rest, ok := strings.Cut(string(stat), ") "); ok {
			fields := strings.Fields(rest)
			parents[pid], _ = strconv.Atoi(fields[1])
		}
		if bytes.Contains(command, []byte(inspection.Subcommand)) {
			children = append(children, pid)
		}
	}
	for _, pid := range children {
		for at := pid; at > 1; at = parents[at] {
			if at == server {
				found = append(found, pid)
				break
			}
		}
	}
	return found
}

// A child that is killed is not the file's fault: the inspection is repeated while the client waits.
func TestInspectionIsKilled(t *testing.T) {
	t.Parallel()
	address := graphtest.NewDatabase(t)
	seen := lookAt(t, address)
	s := serve(t, append([]string{"STOA_DATABASE_URL=" + address}, unlimited...)...)
	ada := register(t, s)
	photo := largePhoto(t)
	type result struct {
		status int
		code   string
	}
	answered := make(chan result, 1)
	go func() {
		status, code := photo.send(s, ada)
		answered <- result{status, code}
	}()
	eventually(t, func() bool {
		if seen.count(fmt.Sprintf(underInspection, 1)) == 1 {
			for _, pid := range inspectors(t, s.cmd.Process.Pid) {
				_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
			}
		}
		return seen.count("SELECT count(*) FROM attachments WHERE attempts > 1 OR status = 'ready'") == 1
	}, "no second inspection")
	require.Equal(t, result{http.StatusCreated, ""}, <-answered)
	require.EqualValues(t, 1, seen.count("SELECT count(*) FROM attachments WHERE attempts = 2 AND status = 'ready'"))
}

// The database goes away during an inspection: the upload is ready soon after it is back, by the same inspection.
func TestDatabaseAwayDuringAnUpload(t *testing.T) {
	t.Parallel()
	address := graphtest.NewDatabase(t)
	seen := lookAt(t, address)
	c := newCable(t, address)
	s := serve(t, append([]string{"STOA_DATABASE_URL=" + c.url}, unlimited...)...)
	ada := register(t, s)
	photo := largePhoto(t)
	answered := make(chan int, 1)
	go func() {
		status, _ := photo.send(s, ada)
		answered <- status
	}()
	eventually(t, func() bool { return seen.count(fmt.Sprintf(underInspection, 1)) == 1 }, "no inspection")
	c.pull()
	require.Equal(t, http.StatusServiceUnavailable, <-answered)
	eventually(t, func() bool {
		return slices.ContainsFunc(filesOf(t, s.data), func(path string) bool { return strings.HasSuffix(path, ".preview") })
	}, "the inspection does not end")
	c.plug()
	began := time.Now()
	eventually(t, func() bool { return seen.count("SELECT count(*) FROM attachments WHERE status = 'ready'") == 1 }, "not ready")
	t.Logf("ready %v after the database was back", time.Since(began))
	require.EqualValues(t, 1, seen.count("SELECT count(*) FROM attachments WHERE attempts = 1"))
	requireBack(t, s, ada)
	status, code := photo.send(s, ada)
	require.Equal(t, http.StatusOK, status, code)
}
