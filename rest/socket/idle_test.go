package socket_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/gorilla/websocket"
	"github.com/stretchr/testify/require"

	"stoa/graph/platform/slack"
	"stoa/rest/resttest"
)

// crowdSetting makes the test binary a crowd of clients: an address, of sockets (ws) or polls (http), a number of connections for each
// token, and the tokens.
const crowdSetting = "STOA_SOCKET_CROWD"

func TestMain(m *testing.M) {
	if words := strings.Fields(os.Getenv(crowdSetting)); len(words) > 0 {
		if err := crowd(words[0], words[1], words[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := resttest.Main(m, resttest.Public)
	shared.Close()
	os.Exit(code)
}

// crowd opens connections, says so, and holds them until its input ends.
func crowd(address, each string, tokens []string) error {
	n, err := strconv.Atoi(each)
	if err != nil {
		return err
	}
	var held []io.Closer
	for _, token := range tokens {
		for range n {
			conn, err := join(address, token)
			if err != nil {
				return err
			}
			held = append(held, conn)
		}
	}
	fmt.Println(len(held))
	_, err = io.Copy(io.Discard, os.Stdin)
	runtime.KeepAlive(held)
	return err
}

// join opens a socket, or begins a poll.
func join(address, token string) (io.Closer, error) {
	if !strings.HasPrefix(address, "http:") {
		conn, response, err := websocket.DefaultDialer.Dial(address, bearer(token))
		if err == nil {
			_ = response.Body.Close()
		}
		return conn, err
	}
	at, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	conn, err := net.Dial("tcp", at.Host)
	if err == nil {
		_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n\r\n", at.RequestURI(), token)
	}
	return conn, err
}

// BenchmarkIdleConnections measures what the server's memory grows by for each connection on which nothing happens. The clients
// are another process. It is run once (-benchtime 1x).
func BenchmarkIdleConnections(b *testing.B) {
	benchmarkIdle(b, func(p *process) string { return p.url })
}

// BenchmarkWaitingPolls is BenchmarkIdleConnections for polls that wait.
func BenchmarkWaitingPolls(b *testing.B) {
	benchmarkIdle(b, func(p *process) string { return p.api + "/events?wait=50" })
}

func benchmarkIdle(b *testing.B, address func(*process) string) {
	b.Helper()
	const agents, each = 50, 100
	for b.Loop() {
		h := newCluster(b)
		p := h.process()
		words := []string{address(p), strconv.Itoa(each)}
		for range agents {
			words = append(words, h.Agent().Token)
		}
		p.dial(words[2]).hangUp()
		before := memory()
		clients := exec.CommandContext(b.Context(), os.Args[0])
		clients.Env = append(os.Environ(), crowdSetting+"="+strings.Join(words, " "))
		clients.Stderr = os.Stderr
		input, err := clients.StdinPipe()
		require.NoError(b, err)
		output, err := clients.StdoutPipe()
		require.NoError(b, err)
		require.NoError(b, clients.Start())
		said, err := bufio.NewReader(output).ReadString('\n')
		require.NoError(b, err)
		require.Equal(b, strconv.Itoa(agents*each)+"\n", said)
		require.Eventually(b, func() bool { return p.hub.Stats().Open == agents*each }, slack.TestWait, slack.TestWait/1000)
		require.Eventually(b, func() bool { return runtime.NumGoroutine() < 2*agents*each+100 }, slack.TestWait, slack.TestWait/1000, "the first looks are done")
		after := memory()
		b.ReportMetric(float64(after.heap-before.heap)/(agents*each), "heap-B/connection")
		b.ReportMetric(float64(after.stack-before.stack)/(agents*each), "stack-B/connection")
		b.ReportMetric(float64(after.heap+after.stack-before.heap-before.stack)/(agents*each), "B/connection")
		require.NoError(b, input.Close())
		require.NoError(b, clients.Wait())
		require.Eventually(b, func() bool { return p.hub.Stats().Open == 0 }, slack.TestWait, slack.TestWait/1000)
	}
}

type footprint struct{ heap, stack int64 }

// memory returns the memory in use after a garbage collection.
func memory() footprint {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{int64(m.HeapAlloc), int64(m.StackInuse)}
}
