package child_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/child"
)

// A long line, such as the goroutines of a panic in JSON, does not end the reading of the output.
func TestLongLines(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	command := exec.CommandContext(t.Context(), "sh", "-c", "head -c 300000 /dev/zero | tr '\\0' x; echo; echo ready; exec sleep 600")
	p, err := child.Start(ctx, command, io.Discard, func(line []byte) bool { return string(line) == "ready" })
	require.NoError(t, err)
	p.Kill()
}

// A child is found, whichever thread started it.
func TestChildrenOfAllThreads(t *testing.T) {
	t.Parallel()
	command := exec.CommandContext(t.Context(), "sleep", "600")
	started, release := make(chan error), make(chan struct{})
	t.Cleanup(func() { close(release) })
	go func() {
		runtime.LockOSThread() // not the main thread
		defer runtime.UnlockOSThread()
		started <- command.Start()
		<-release
	}()
	require.NoError(t, <-started)
	require.Contains(t, child.ChildrenOf(os.Getpid()), command.Process.Pid)
	require.NoError(t, command.Process.Kill())
	require.Error(t, command.Wait())
	require.NotContains(t, child.ChildrenOf(os.Getpid()), command.Process.Pid)
}
