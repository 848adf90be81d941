package main

import (
	"net"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/graph/platform/slack"
)

// The server notifies systemd when it serves, while it works, and when it stops.
func TestSystemdIsNotified(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "notify")
	socket, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	require.NoError(t, err)
	defer socket.Close()
	s := launchServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), "NOTIFY_SOCKET="+path, "WATCHDOG_USEC=100000")

	received := make(chan string, 1024)
	go func() {
		defer close(received)
		buffer := make([]byte, 4096)
		for {
			n, err := socket.Read(buffer)
			if err != nil {
				return
			}
			received <- string(buffer[:n])
		}
	}()
	awaitState := func(prefix string) {
		t.Helper()
		deadline := time.After(slack.TestWait)
		for {
			select {
			case state := <-received:
				if strings.HasPrefix(state, prefix) {
					return
				}
				require.False(t, strings.HasPrefix(state, "WATCHDOG") && prefix == "READY=1", "it works before it serves")
			case <-deadline:
				require.FailNow(t, "systemd was not told", prefix)
			}
		}
	}
	awaitState("EXTEND_TIMEOUT_USEC=30000000")
	awaitState("READY=1\nSTATUS=Serving http://127.0.0.1:")
	for range 3 {
		awaitState("WATCHDOG=1")
	}
	s.signal(syscall.SIGTERM)
	awaitState("STOPPING=1")
	require.Zero(t, s.waitExit())
}
