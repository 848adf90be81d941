package main

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/agent"
	"stoa/graph/graphtest"
)

// photo is an image whose inspection takes a while.
var photo = sync.OnceValue(func() []byte {
	picture := image.NewGray(image.Rect(0, 0, 2000, 1500))
	for i := range picture.Pix {
		picture.Pix[i] = byte(rand.IntN(256))
	}
	var encoded bytes.Buffer
	if err := jpeg.Encode(&encoded, picture, nil); err != nil {
		panic(err)
	}
	return encoded.Bytes()
})

// Six servers are asked to go while uploads are sent, wait and are inspected, and everything else is asked too. Until they said that
// they would go nothing is held back, and whatever was asked is answered.
func TestShutdownUnderLoad(t *testing.T) {
	t.Parallel()
	for i := range 6 {
		t.Run(fmt.Sprint(i+1), func(t *testing.T) {
			t.Parallel()
			s := serve(t, append([]string{"STOA_DATABASE_URL=" + graphtest.NewDatabase(t), "STOA_LIMIT_INSPECTIONS=1",
				"STOA_LIMIT_STORAGE_BYTES_PER_AGENT=0", "STOA_LIMIT_FILES_PER_AGENT=0"}, unlimited...)...)
			ada, err := agent.Register(t.Context(), s.client(), "Ada", "ada")
			require.NoError(t, err)
			l := &askers{server: s, token: ada.Token}
			for range 6 {
				l.begin((*askers).upload)
			}
			l.begin((*askers).read)
			l.begin((*askers).change)
			stalled := l.stall(t)
			eventually(t, func() bool { return l.sent.Load() >= 20 }, "too few requests")
			began := time.Now()
			s.signal(syscall.SIGTERM)
			s.said("shutting down")
			eventually(t, s.isGoing, "still ready")
			l.over.Store(true)
			l.all.Wait()
			require.Empty(t, l.unanswered, "of %d requests", l.sent.Load())
			half := exchange(t, stalled, "")
			require.NotNil(t, half, "an upload whose form never came got no answer")
			require.Contains(t, []int{http.StatusServiceUnavailable, http.StatusRequestTimeout}, half.status)
			require.Zero(t, s.wait())
			require.Less(t, time.Since(began), 20*time.Second)
			require.NotContains(t, s.log.String(), "cut off")
		})
	}
}

// A process that has nothing to do is gone soon after the 2 s in which it still answers, whatever connections it has.
func TestShutdownOfAnIdleProcess(t *testing.T) {
	t.Parallel()
	s := serve(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t))
	idle := connection(t, s.url)
	require.NotNil(t, exchange(t, idle, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"))
	began := time.Now()
	s.signal(syscall.SIGTERM)
	silent := []net.Conn{connection(t, s.url), connection(t, s.operator)}
	require.Zero(t, s.wait())
	require.Less(t, time.Since(began), 8*time.Second, "2.6 s on a machine that has nothing else to do")
	for _, conn := range silent {
		require.Nil(t, exchange(t, conn, ""))
	}
}

// isGoing tells whether the server says that it is not ready, or has stopped listening.
func (s *instance) isGoing() bool {
	response, err := http.Get(s.url + "/readyz")
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED)
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusServiceUnavailable
}

// askers send requests one after the other, each on a connection of its own.
type askers struct {
	server *instance
	token  string
	all    sync.WaitGroup
	sent   atomic.Int64
	over   atomic.Bool

	mu sync.Mutex
	// unanswered are the requests that were sent and not answered.
	unanswered []error
}

func (l *askers) begin(ask func(*askers) *http.Request) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patient}
	l.all.Go(func() {
		for !l.over.Load() {
			response, err := client.Do(ask(l))
			l.sent.Add(1)
			if err == nil {
				err = response.Body.Close()
			}
			if errors.Is(err, syscall.ECONNREFUSED) {
				return // the server has gone, so nothing was sent
			}
			if err != nil {
				l.mu.Lock()
				l.unanswered = append(l.unanswered, err)
				l.mu.Unlock()
			}
		}
	})
}

func (l *askers) request(method, path, contentType string, body []byte) *http.Request {
	request, err := http.NewRequest(method, l.server.url+path, bytes.NewReader(body))
	if err != nil {
		panic(err)
	}
	request.Header.Set("Authorization", "Bearer "+l.token)
	request.Header.Set("Content-Type", contentType)
	return request
}

func (l *askers) read() *http.Request {
	return l.request(http.MethodGet, "/api/v1/bots/me", "", nil)
}

func (l *askers) change() *http.Request {
	return l.request(http.MethodPatch, "/api/v1/bots/me", "application/json", []byte(`{"bio":"busy"}`))
}

func (l *askers) upload() *http.Request {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
	_ = form.WriteField("purpose", "order") // a buffer takes everything
	_ = form.WriteField("upload_id", uuid.NewString())
	part, _ := form.CreateFormFile("file", "photo.jpg")
	_, _ = part.Write(photo())
	_ = form.Close()
	return l.request(http.MethodPost, "/api/v1/attachments", form.FormDataContentType(), body.Bytes())
}

// stall begins an upload and sends no more of it, at the very rate that is not too slow.
func (l *askers) stall(t *testing.T) net.Conn {
	t.Helper()
	conn := connection(t, l.server.url)
	_, err := fmt.Fprintf(conn, "POST /api/v1/attachments HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 20000000\r\n\r\n--b\r\n", l.token)
	require.NoError(t, err)
	return conn
}
