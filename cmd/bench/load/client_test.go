package load

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClientReusesConnection(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		answer := fmt.Sprintf("%s %s %s %s %s", r.RemoteAddr, r.Method, r.URL.Path, r.Header.Get("Authorization"), body)
		w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	client, err := Dial(t.Context(), strings.TrimPrefix(server.URL, "http://"))
	require.NoError(t, err)
	defer client.Close()
	var from string
	for i := range 3 {
		body := strings.Repeat("x", 100_000*i)
		status, answer, err := client.Do(AppendRequest(nil, "POST", "/a", "token", []byte(body)))
		require.NoError(t, err)
		require.Equal(t, http.StatusTeapot, status)
		address, rest, _ := strings.Cut(string(answer), " ")
		require.Equal(t, "POST /a Bearer token "+body, rest)
		require.True(t, i == 0 || from == address, "another connection")
		from = address
	}
	_, err = client.Expect(http.StatusOK, AppendRequest(nil, "GET", "/b", "", nil))
	require.ErrorContains(t, err, "answered 418 instead of 200")
}

func TestMalformedStatusLine(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"", "x", "HTTP/1.1", "HTTP/1.1 2", "HTTP/1.1 abc OK"} {
		_, err := readStatus([]byte(line))
		require.Error(t, err, line)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	require.Zero(t, Sample{}.Quantile(0.5))
	s := Sample{Elapsed: 2 * time.Second, Latencies: []time.Duration{1, 2, 3, 4}}
	require.Equal(t, time.Duration(3), s.Quantile(0.5))
	require.Equal(t, time.Duration(4), s.Quantile(0.99))
	require.Equal(t, time.Duration(4), s.Quantile(1))
	require.InDelta(t, 2, s.PerSecond(), 0)
}

func TestRunStopsAtFirstError(t *testing.T) {
	t.Parallel()
	failure := io.ErrUnexpectedEOF
	waits := func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	}
	_, err := Run(t.Context(), []Op{waits, func(context.Context) error { return failure }}, time.Hour)
	require.ErrorIs(t, err, failure)
}

func TestRunCallsEachCallerAtLeastOnce(t *testing.T) {
	t.Parallel()
	quick := func(context.Context) error { return nil }
	s, err := Run(t.Context(), []Op{quick, quick}, 0)
	require.NoError(t, err)
	require.GreaterOrEqual(t, s.Ops(), 2)
}
