package testbed

import (
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

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
	require.Contains(t, childrenOf(os.Getpid()), command.Process.Pid)
	require.NoError(t, command.Process.Kill())
	require.Error(t, command.Wait())
	require.NotContains(t, childrenOf(os.Getpid()), command.Process.Pid)
}
