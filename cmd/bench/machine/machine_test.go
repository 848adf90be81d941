package machine

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOwnProcess(t *testing.T) {
	t.Parallel()
	parent, err := Parent(os.Getpid())
	require.NoError(t, err)
	require.Equal(t, os.Getppid(), parent)

	m, err := MemoryOf(os.Getpid())
	require.NoError(t, err)
	require.Positive(t, m.Resident)
	require.Positive(t, m.Anonymous)
	require.Greater(t, m.Resident, m.Anonymous)

	used, err := CPU(os.Getpid())
	require.NoError(t, err)
	all, err := TreeCPU(os.Getpid())
	require.NoError(t, err)
	require.GreaterOrEqual(t, all, used)
}

func TestEndedProcess(t *testing.T) {
	t.Parallel()
	gone := exec.CommandContext(t.Context(), "true")
	require.NoError(t, gone.Run())
	_, err := CPU(gone.Process.Pid)
	require.Error(t, err)
	_, err = MemoryOf(gone.Process.Pid)
	require.Error(t, err)
}

func TestDescribe(t *testing.T) {
	t.Parallel()
	d := Describe()
	require.Positive(t, d.Cores)
	require.NotEmpty(t, d.Kernel)
	require.NotEmpty(t, d.Load)
}
