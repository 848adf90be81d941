package child_test

import (
	"context"
	"io"
	"os/exec"
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
