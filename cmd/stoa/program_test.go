package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/graph/platform/slack"
)

// programCommand prepares the program with these settings and no others; it stretches its time-outs as the tests do.
func programCommand(t testing.TB, args []string, settings ...string) *exec.Cmd {
	t.Helper()
	path, err := filepath.Abs(testProgram)
	require.NoError(t, err)
	cmd := exec.Command(path, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, envPrefix+"_") && !strings.HasPrefix(v, slack.Variable+"=")
	})
	cmd.Env = append(cmd.Env, settings...)
	cmd.Dir = t.TempDir()
	return cmd
}

// runProgram runs the program to its end, in an empty folder.
func runProgram(t testing.TB, args []string, settings ...string) (code int, stdout, stderr string) {
	t.Helper()
	return runIn(t, t.TempDir(), args, settings...)
}

// output runs the program, which must succeed, and returns its standard output.
func output(t testing.TB, args []string, settings ...string) string {
	t.Helper()
	code, stdout, stderr := runProgram(t, args, settings...)
	require.Zero(t, code, stderr)
	return stdout
}

// complaint runs the program, which must fail, and returns its standard error.
func complaint(t testing.TB, args []string, settings ...string) string {
	t.Helper()
	code, stdout, stderr := runProgram(t, args, settings...)
	require.Equal(t, exitFailure, code, "%s%s", stdout, stderr)
	return stderr
}

// runIn runs the program to its end in a folder.
func runIn(t testing.TB, folder string, args []string, settings ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := programCommand(t, args, settings...)
	cmd.Dir = folder
	var out, complaints bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaints
	require.NoError(t, cmd.Start())
	kill := time.AfterFunc(slack.TestWait, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Wait() // the caller wants its exit code
	return cmd.ProcessState.ExitCode(), out.String(), complaints.String()
}

// runInProcess runs a command that starts no server in the process of the test, which saves the start of the program.
func runInProcess(args ...string) (code int, stdout, stderr string) {
	var out, complaints bytes.Buffer
	code = run(args, &out, &complaints)
	return code, out.String(), complaints.String()
}
