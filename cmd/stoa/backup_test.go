package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A backup that is restored into an empty data folder makes a server like the original one.
func TestBackupRestoresServer(t *testing.T) {
	nightly(t)
	t.Parallel()
	s := startServer(t, append(noLimits, "STOA_DATA_DIR="+migratedData(t))...)
	ada := register(t, s)
	picture := "/attachments/" + s.uploadImage(ada, "portfolio") + "/download"
	before, err := s.client().Send(t.Context(), http.MethodGet, picture, ada.Token, nil)
	require.NoError(t, err)

	// By the command beside the server, and by an operator.
	code, out, stderr := runProgram(t, []string{"backup"}, "STOA_DATA_DIR="+s.data)
	require.Zero(t, code, stderr)
	require.Regexp(t, `^Backup \S+ holds the database \(\d+ bytes\) and 2 files \(\d+ bytes\)\.\n$`, out)
	made := s.queryOperator(
		`mutation { runMaintenance(task: BACKUP, reason: "before the move") { backup { name files sizeBytes } } }`)
	require.Contains(t, made, `"files":2`)
	code, out, stderr = runProgram(t, []string{"backup", "list"}, "STOA_DATA_DIR="+s.data)
	require.Zero(t, code, stderr)
	require.Equal(t, 3, strings.Count(out, "\n"), out)

	code, _, stderr = runProgram(t, []string{"backup", "restore"}, "STOA_DATA_DIR="+s.data)
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "not empty")
	code, _, stderr = runProgram(t, []string{"backup", "restore", "--replace"}, "STOA_DATA_DIR="+s.data)
	require.Equal(t, exitFailure, code)
	require.Contains(t, stderr, "in use")
	s.signal(syscall.SIGTERM)
	require.Zero(t, s.waitExit())

	// A new installation: its server has made a database, which the backup replaces, and a key, which stays.
	moved := migratedData(t)
	fresh := startServer(t, "STOA_DATA_DIR="+moved)
	fresh.signal(syscall.SIGTERM)
	require.Zero(t, fresh.waitExit())
	code, out, stderr = runProgram(t,
		[]string{"backup", "restore", "--replace", "--new-key", "--from", filepath.Join(s.data, "backups")}, "STOA_DATA_DIR="+moved)
	require.Zero(t, code, stderr)
	require.Contains(t, out, "is restored")
	again := startServer(t, append(noLimits, "STOA_DATA_DIR="+moved)...)
	after, err := again.client().Send(t.Context(), http.MethodGet, picture, ada.Token, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, after.Status)
	require.Equal(t, before.Raw, after.Raw)
	reconciled := again.queryOperator(
		`mutation { runMaintenance(task: RECONCILE, reason: "after the move") { discrepancies { check } } }`)
	require.Contains(t, reconciled, `"discrepancies":[]`)
}
