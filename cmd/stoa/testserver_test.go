package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"image"
	"image/jpeg"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
)

// testServer is a running `stoa serve`.
type testServer struct {
	t    testing.TB
	cmd  *exec.Cmd
	data string
	// url and operator are the origins of its listeners.
	url, operator string
	log           *logBuffer
	exited        chan struct{}
}

// launchServer starts a server on free ports, in its own data folder unless one is set, and waits until it listens. At the end
// of the test the server is killed, or shut down if it has a private database to stop.
func launchServer(t testing.TB, settings ...string) *testServer {
	t.Helper()
	s := &testServer{t: t, data: t.TempDir(), log: newLogBuffer(), exited: make(chan struct{})}
	all := append([]string{
		"STOA_LISTEN=127.0.0.1:0", "STOA_OPERATOR_LISTEN=127.0.0.1:0", "STOA_LOG_LEVEL=debug", "STOA_DATA_DIR=" + s.data,
	}, settings...)
	end := syscall.SIGTERM
	for _, setting := range settings {
		if folder, ok := strings.CutPrefix(setting, "STOA_DATA_DIR="); ok {
			s.data = folder
		}
		if strings.HasPrefix(setting, "STOA_DATABASE_URL=") {
			end = syscall.SIGKILL
			all = append([]string{"STOA_SECRET_KEY_FILE=" + sharedKey}, all...) // the test's settings come last, so they count
		}
	}
	s.cmd = programCommand(t, []string{"serve"}, all...)
	s.cmd.Stderr = s.log
	require.NoError(t, s.cmd.Start())
	go func() {
		_ = s.cmd.Wait() // the exit code stays in the process state
		close(s.exited)
	}()
	t.Cleanup(func() {
		_ = s.cmd.Process.Signal(end) // it may have ended
		s.waitExit()
		require.NotContains(t, s.log.String(), "DATA RACE")
		if t.Failed() {
			t.Logf("log of the server:\n%s", s.log)
		}
	})
	s.url = "http://" + s.waitForLog("listening", "what", "public")["address"].(string)
	s.operator = "http://" + s.waitForLog("listening", "what", "operator")["address"].(string)
	return s
}

// startServer is launchServer, and waits until the server is ready.
func startServer(t testing.TB, settings ...string) *testServer {
	t.Helper()
	s := launchServer(t, settings...)
	s.waitForLog("serving")
	return s
}

// waitForLog waits for a line of the log with that message and attributes.
func (s *testServer) waitForLog(message string, attributes ...string) map[string]any {
	s.t.Helper()
	deadline := time.After(slack.TestWait)
	for {
		line, grown := s.log.find(message, attributes)
		if line != nil {
			return line
		}
		select {
		case <-grown:
		case <-s.exited:
			if line, _ := s.log.find(message, attributes); line != nil {
				return line
			}
			require.FailNow(s.t, "the server ended", "waiting for %q in\n%s", message, s.log)
		case <-deadline:
			require.FailNow(s.t, "the server did not log it", "waiting for %q in\n%s", message, s.log)
		}
	}
}

// waitExit returns the exit code.
func (s *testServer) waitExit() int {
	s.t.Helper()
	select {
	case <-s.exited:
	case <-time.After(slack.TestWait):
		_ = s.cmd.Process.Kill()
		<-s.exited
		s.t.Error("the server had to be killed")
	}
	return s.cmd.ProcessState.ExitCode()
}

// stop shuts the server down.
func (s *testServer) stop() {
	s.t.Helper()
	s.signal(syscall.SIGTERM)
	require.Zero(s.t, s.waitExit())
}

func (s *testServer) signal(signal syscall.Signal) {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(signal))
}

// httpAnswer is an HTTP response read to its end.
type httpAnswer struct {
	status int
	header http.Header
	// closing is true if the server closes the connection.
	closing bool
	raw     []byte
	// from is the address after all redirects, if it is known.
	from *url.URL
}

// code returns the code of an error body, or "".
func (a *httpAnswer) code() string {
	var body map[string]map[string]any
	_ = json.Unmarshal(a.raw, &body) // an answer that is not JSON has no code
	code, _ := body["error"]["code"].(string)
	return code
}

// parsed decodes JSON.
func parsed[Value any, Raw ~string | ~[]byte](t testing.TB, raw Raw) (value Value) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(raw), &value), "%s", raw)
	return value
}

// get fetches a path from the public listener.
func (s *testServer) get(path string) *httpAnswer {
	s.t.Helper()
	return s.fetch(s.url + path)
}

// read is get for requests that share the few connections of anonymous reads: it asks again while they are busy.
func (s *testServer) read(path string) (answer *httpAnswer) {
	s.t.Helper()
	eventually(s.t, func() bool {
		answer = s.get(path)
		return answer.status != http.StatusServiceUnavailable && answer.status != http.StatusTooManyRequests
	}, "too busy to answer")
	return answer
}

func (s *testServer) fetch(address string) *httpAnswer {
	s.t.Helper()
	return s.do(graphtest.Got(http.NewRequestWithContext(s.t.Context(), http.MethodGet, address, nil))(s.t))
}

func (s *testServer) do(request *http.Request) *httpAnswer {
	s.t.Helper()
	response, err := http.DefaultTransport.RoundTrip(request)
	require.NoError(s.t, err)
	return readAnswer(s.t, response)
}

func readAnswer(t testing.TB, response *http.Response) *httpAnswer {
	t.Helper()
	defer response.Body.Close()
	raw := graphtest.Got(io.ReadAll(response.Body))(t)
	return &httpAnswer{response.StatusCode, response.Header, response.Close, raw, response.Request.URL}
}

// undescribed compares no answers with the public description, as the default transport of tests does.
var undescribed = &http.Client{Transport: new(http.Transport)}

// operatorReadiness reads /readyz of the operators' listener.
func (s *testServer) operatorReadiness() *httpAnswer {
	s.t.Helper()
	response, err := undescribed.Get(s.operator + "/readyz")
	require.NoError(s.t, err)
	return readAnswer(s.t, response)
}

// isShuttingDown reports whether the server is not ready or has stopped listening.
func (s *testServer) isShuttingDown() bool {
	response, err := http.Get(s.url + "/readyz")
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED)
	}
	defer response.Body.Close()
	return response.StatusCode == http.StatusServiceUnavailable
}

// dialOrigin opens a connection to a listener, given by its origin.
func dialOrigin(t testing.TB, origin string) net.Conn {
	t.Helper()
	conn := graphtest.Got(net.Dial("tcp", strings.TrimPrefix(origin, "http://")))(t)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(slack.TestWait)))
	return conn
}

// exchangeRaw sends a request unchanged and reads the answer. It returns nil if the server has closed the connection: later data
// from the client may discard the answer.
func exchangeRaw(t testing.TB, conn net.Conn, request string) *httpAnswer {
	t.Helper()
	_, _ = io.WriteString(conn, request) // the server may have closed the connection
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if errors.Is(err, syscall.ECONNRESET) {
		return nil
	}
	require.NoError(t, err)
	return &httpAnswer{response.StatusCode, response.Header, response.Close, raw, nil}
}

// operatorToken returns the token in the data folder.
func (s *testServer) operatorToken() string {
	s.t.Helper()
	return strings.TrimSpace(string(graphtest.Got(os.ReadFile(filepath.Join(s.data, operatorTokenFile)))(s.t)))
}

// queryOperator sends a document to the operators' GraphQL and returns the answer's body.
func (s *testServer) queryOperator(document string) string {
	s.t.Helper()
	return string(s.postGraphQL(s.operatorToken(), document).raw)
}

func (s *testServer) postGraphQL(token, document string) *httpAnswer {
	s.t.Helper()
	body := graphtest.Got(json.Marshal(map[string]string{"query": document}))(s.t)
	return s.do(s.request(http.MethodPost, s.operator+"/graphql", token, "application/json", body))
}

// request makes a request with a token, if that is not empty, and a body of a content type.
func (s *testServer) request(method, address, token, contentType string, body []byte) *http.Request {
	s.t.Helper()
	request := graphtest.Got(http.NewRequestWithContext(s.t.Context(), method, address, bytes.NewReader(body)))(s.t)
	request.Header.Set("Content-Type", contentType)
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	return request
}

// uploadForm is the body of an upload and its content type.
func uploadForm(purpose string, file []byte) (body []byte, contentType string) {
	var text bytes.Buffer // writes to it cannot fail
	form := multipart.NewWriter(&text)
	_ = form.WriteField("purpose", purpose)
	_ = form.WriteField("upload_id", uuid.NewString())
	part, _ := form.CreateFormFile("file", "a.jpg")
	_, _ = part.Write(file)
	_ = form.Close()
	return text.Bytes(), form.FormDataContentType()
}

// blankJPEG returns a JPEG of one colour.
func blankJPEG(width, height int) []byte {
	var encoded bytes.Buffer
	if err := jpeg.Encode(&encoded, image.NewYCbCr(image.Rect(0, 0, width, height), image.YCbCrSubsampleRatio420), nil); err != nil {
		panic(err)
	}
	return encoded.Bytes()
}

// uploadImage uploads a small image and returns its id.
func (s *testServer) uploadImage(by *testAgent, purpose string) string {
	s.t.Helper()
	made, _, err := by.Upload(s.t.Context(), purpose, "a.jpg", uuid.NewString(), blankJPEG(8, 8))
	require.NoError(s.t, err)
	return made.ID
}

// eventually waits for a state that other processes cause.
func eventually(t testing.TB, condition func() bool, message string) {
	t.Helper()
	require.Eventually(t, condition, slack.TestWait, 10*time.Millisecond, message)
}
