package client_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var codeBlocks = regexp.MustCompile("(?s)```(go)?\n(.*?)```")

// A module elsewhere that has the two lines of README.md builds the program of README.md, without the network.
func TestAnotherModuleBuildsTheProgramOfTheReadme(t *testing.T) {
	t.Parallel()
	here, err := os.Getwd()
	require.NoError(t, err)
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	blocks := codeBlocks.FindAllStringSubmatch(string(readme), -1)
	require.Len(t, blocks, 2)
	lines := strings.Replace(blocks[0][2], "../stoa/rest/client", here, 1)
	require.Contains(t, lines, here)
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)

	folder := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module example.org/agent\n\ngo 1.26.8\n\n" + lines, "main.go": blocks[1][2], "go.sum": string(sums),
	} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", os.DevNull, ".")
	build.Dir = folder
	build.Env = append(os.Environ(), "GOWORK=off", "GOPROXY=off", "GOFLAGS=-mod=mod")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// A program that imports the client compiles nothing else of this repository, and of others only these modules.
func TestTheClientIsLight(t *testing.T) {
	t.Parallel()
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	list.Env = append(os.Environ(), "GOWORK=off")
	out, err := list.Output()
	require.NoError(t, err)
	modules := make(map[string]bool)
	for module := range strings.FieldsSeq(string(out)) {
		modules[module] = true
	}
	own, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Module.Path}}", ".").Output()
	require.NoError(t, err)
	require.Equal(t, map[string]bool{
		strings.TrimSpace(string(own)): true,
		"github.com/google/uuid":       true, "github.com/gorilla/websocket": true,
		"golang.org/x/crypto": true, "golang.org/x/mod": true, "golang.org/x/sys": true, // the first imports the last
	}, modules)
}
