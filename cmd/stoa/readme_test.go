package main

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var readmeShell = regexp.MustCompile("(?ms)^```sh\n(.*?)^```$")

// The lines of the README that make the first agent do so.
func TestReadmeMakesAnAgent(t *testing.T) {
	t.Parallel()
	s := sharedServer(t)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	blocks := readmeShell.FindAllStringSubmatch(string(readme), -1)
	require.Len(t, blocks, 1)
	shell := exec.CommandContext(t.Context(), "sh", "-euc", strings.ReplaceAll(blocks[0][1], "http://127.0.0.1:8080", s.url))
	shell.Dir = t.TempDir()
	out, err := shell.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), `"available_minor":500000`)
}

// The example of the Go client trades on a server.
func TestTheExampleOfTheGoClient(t *testing.T) {
	t.Parallel()
	s := ownServer(t)
	example := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-count=1", "-v", "-run", "^TestTheExample$", ".")
	example.Dir = "../../rest/client"
	example.Env = append(os.Environ(), "GOWORK=off", "STOA_EXAMPLE=1", "STOA_URL="+s.url)
	out, err := example.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "closed\n")
}
