package main

import (
	"context"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/graph/graphtest"
	"stoa/jobs/inspection"
)

// The server neither links nor starts libvips: only the program that inspects files does.
func TestServerWithoutLibvips(t *testing.T) {
	t.Parallel()
	packages := func(of string) string {
		out, err := exec.Command("go", "list", "-deps", of).Output()
		require.NoError(t, err)
		return string(out)
	}
	libraries := func(program string) string {
		file, err := elf.Open(program)
		require.NoError(t, err)
		defer file.Close()
		names, err := file.ImportedLibraries()
		require.NoError(t, err)
		return strings.Join(names, " ")
	}
	const bimg, render = "github.com/h2non/bimg", "stoa/jobs/inspection/render"
	require.NotContains(t, packages("."), bimg)
	require.NotContains(t, packages("."), render)
	require.Contains(t, packages("../inspect"), bimg)
	for _, name := range []string{"vips", "glib", "lcms"} {
		require.NotContains(t, libraries(testProgram), name)
	}
	require.Contains(t, libraries(filepath.Join(filepath.Dir(testProgram), inspection.Program)), "libvips")
}

// A server that inspects files does not start without the inspecting program, and names the missing file; a server without the
// role jobs needs none.
func TestMissingInspectProgram(t *testing.T) {
	t.Parallel()
	alone := filepath.Join(t.TempDir(), "stoa")
	content, err := os.ReadFile(testProgram)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(alone, content, 0o700))
	cmd := programCommand(t, []string{"serve"}, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), "STOA_DATA_DIR="+t.TempDir(),
		"STOA_LISTEN=127.0.0.1:0", "STOA_OPERATOR_LISTEN=127.0.0.1:0")
	cmd.Path = alone
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, exitFailure, cmd.ProcessState.ExitCode(), "%s", out)
	require.Contains(t, string(out), "stoa-inspect, the program that inspects files, must lie beside stoa")
	require.Contains(t, string(out), "no such file")
}

// The program does nothing for people who start it.
func TestInspectProgramAlone(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--help"}, {"picture.jpg"}, {inspection.Subcommand}} {
		cmd := exec.CommandContext(context.Background(), filepath.Join(filepath.Dir(testProgram), inspection.Program), args...)
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "only stoa starts stoa-inspect")
	}
}
