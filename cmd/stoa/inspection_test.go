package main

import (
	"context"
	"debug/elf"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stoa/graph/graphtest"
	"stoa/jobs/inspection"
)

// Operators see the measures that confine the inspection of files; the public sees only the checks of §4.9. Secrets are no
// longer in the environment that the kernel shows, which is closed to other processes of the user.
func TestConfinement(t *testing.T) {
	t.Parallel()
	token := uuid.NewString() + uuid.NewString()
	s := startServer(t, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), "STOA_OPERATOR_TOKEN="+token,
		"AWS_SECRET_ACCESS_KEY=hunter2hunter2")

	require.NotContains(t, s.log.String(), "sign-in", "a link is for who starts it by hand")
	type readiness struct {
		Status      string
		Confinement []inspection.Measure
	}
	var shown readiness
	eventually(t, func() bool {
		answer := s.operatorReadiness()
		require.Equal(t, http.StatusOK, answer.status)
		shown = parsed[readiness](t, answer.raw)
		return len(shown.Confinement) > 0
	}, "no confinement on /readyz")
	require.Equal(t, "ok", shown.Status)
	line, _ := s.log.find("inspection of files is confined", nil)
	if line == nil {
		line = s.waitForLog("inspection of files is confined in part")
	}
	for _, name := range []string{
		"user", "capabilities", "no new privileges", "resource limits", "landlock", "seccomp", "server's memory",
	} {
		at := slices.IndexFunc(shown.Confinement, func(m inspection.Measure) bool { return m.Name == name })
		require.GreaterOrEqual(t, at, 0, name)
		require.NotEmpty(t, shown.Confinement[at].Detail)
		require.Contains(t, line, name)
	}

	public := parsed[map[string]any](t, s.get("/readyz").raw)
	require.Equal(t, []string{"checks", "status"}, slices.Sorted(maps.Keys(public)))
	checks := slices.Sorted(maps.Keys(public["checks"].(map[string]any)))
	require.Equal(t, []string{"database", "jobs", "migrations", "storage"}, checks)

	path := filepath.Join("/proc", strconv.Itoa(s.cmd.Process.Pid), "environ")
	kept, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrPermission) {
		return // as a plain user: closed
	}
	require.NoError(t, err)
	require.Contains(t, string(kept), "STOA_OPERATOR_TOKEN=\x00")
	for _, secret := range []string{token, "testpass77", "hunter2hunter2"} {
		require.NotContains(t, string(kept), secret)
	}
	require.Regexp(t, "r--------$", graphtest.Got(os.Stat(path))(t).Mode().String())
}

// The server neither links nor starts libvips: only the program that inspects files does.
func TestServerWithoutLibvips(t *testing.T) {
	t.Parallel()
	packages := func(of string) string {
		return string(graphtest.Got(exec.Command("go", "list", "-deps", of).Output())(t))
	}
	libraries := func(program string) string {
		file := graphtest.Got(elf.Open(program))(t)
		defer file.Close()
		return strings.Join(graphtest.Got(file.ImportedLibraries())(t), " ")
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
	require.NoError(t, os.WriteFile(alone, graphtest.Got(os.ReadFile(testProgram))(t), 0o700))
	settings := append(freePorts, "STOA_DATABASE_URL="+graphtest.NewDatabase(t), "STOA_DATA_DIR="+t.TempDir())
	cmd := programCommand(t, []string{"serve"}, settings...)
	cmd.Path = alone
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, exitFailure, cmd.ProcessState.ExitCode(), "%s", out)
	require.Contains(t, string(out), "stoa-inspect, the program that inspects files, must lie beside stoa")
	require.Contains(t, string(out), "no such file")
}

// The program does nothing if a person starts it.
func TestInspectProgramAlone(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{nil, {"--help"}, {"picture.jpg"}, {inspection.Subcommand}} {
		cmd := exec.CommandContext(context.Background(), filepath.Join(filepath.Dir(testProgram), inspection.Program), args...)
		out, err := cmd.CombinedOutput()
		require.Error(t, err)
		require.Contains(t, string(out), "only stoa starts stoa-inspect")
	}
}

// freePorts let a server listen beside all others.
var freePorts = []string{"STOA_LISTEN=127.0.0.1:0", "STOA_OPERATOR_LISTEN=127.0.0.1:0"}

// The error of a full disk names the disk. Only root can mount such a disk.
func TestFullDisksAreNamed(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	data := migratedData(t)
	require.NoError(t, os.Mkdir(filepath.Join(data, "files"), 0o700))
	smallDisk(t, filepath.Join(data, "backups"), "64k")
	full := func(program string) func(int, string, string) string {
		return fails(t, exitFailure, program+": ", "No space left on device")
	}
	full("pg_dump")(runProgram(t, []string{"backup"}, "STOA_DATA_DIR="+data))

	small := filepath.Join(t.TempDir(), "data")
	smallDisk(t, small, "8m")
	full("initdb")(runProgram(t, []string{"serve"}, append(freePorts, "STOA_DATA_DIR="+small)...))
}

// smallDisk mounts a file system of that size in a new folder.
func smallDisk(t *testing.T, folder, size string) {
	t.Helper()
	require.NoError(t, os.Mkdir(folder, 0o700))
	if err := unix.Mount("tmpfs", folder, "tmpfs", 0, "mode=0700,size="+size); err != nil {
		t.Skipf("this account cannot mount: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(folder, unix.MNT_DETACH)) })
}
