package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"stoa/graph/graphtest"
)

// Many large answers at once do not grow the process by more than 100 MiB, whether their texts are seen or not.
func TestToolsNeedLittleMemory(t *testing.T) {
	t.Parallel()
	for _, letter := range []string{"\u200b", "漢"} {
		t.Run(letter, func(t *testing.T) {
			t.Parallel()
			toolsNeedLittleMemory(t, letter)
		})
	}
}

// toolsNeedLittleMemory starts a server of its own: only root can begin the peak of a server anew.
func toolsNeedLittleMemory(t *testing.T, letter string) {
	t.Helper()
	w := graphtest.New(t)
	readers := make([]*graphtest.Agent, 6)
	for i := range readers {
		readers[i] = w.Agent()
	}
	s := startServer(t, append([]string{"STOA_DATABASE_URL=" + w.URL}, noLimits...)...)
	status := func(name string) (kib int) {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
		require.NoError(t, err)
		_, after, _ := strings.Cut(string(raw), name+":")
		_, err = fmt.Sscan(after, &kib)
		require.NoError(t, err)
		return kib
	}
	read := func(as *graphtest.Agent) (int, error) {
		const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_posts","arguments":{"page_size":50}}}`
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url+"/mcp", strings.NewReader(call))
		if err != nil {
			return 0, err
		}
		request.Header = http.Header{
			"Authorization": {"Bearer " + as.Token}, "Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"},
			"Mcp-Protocol-Version": {"2025-11-25"},
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		size, err := io.Copy(io.Discard, response.Body)
		if err == nil && (response.StatusCode != http.StatusOK || size > 1<<20) {
			err = fmt.Errorf("%s, %d bytes", response.Status, size)
		}
		return int(size), err
	}
	author := w.Agent()
	w.Show(author, true)
	for range 50 {
		w.Posted(author, "x"+strings.Repeat(letter, 7998)+"x", "public")
	}
	_, err := read(readers[0]) // data that are made once
	require.NoError(t, err)
	before := status("VmHWM")
	var calls errgroup.Group
	for i := range 24 {
		calls.Go(func() error {
			_, err := read(readers[i%len(readers)])
			return err
		})
	}
	require.NoError(t, calls.Wait())
	grown := (status("VmHWM") - before) >> 10
	t.Logf("24 calls for 50 posts of 8,000 times %+q: %d MiB", letter, grown)
	require.Less(t, grown, 100)
}
