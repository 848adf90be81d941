package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A backup that is restored into an empty data folder makes a server like the original one.
func TestBackupRestoresServer(t *testing.T) {
	nightly(t)
	t.Parallel()
	s := startServer(t, append(noLimits, "STOA_DATA_DIR="+migratedData(t))...)
	ada := s.join("Agent", "agent")
	picture := "/attachments/" + s.uploadImage(ada, "portfolio") + "/download"
	before := send(t, ada.Client, http.MethodGet, picture, nil)

	// By the command beside the server, and by an operator.
	own := "STOA_DATA_DIR=" + s.data
	require.Regexp(t, `^Backup \S+ holds the database \(\d+ bytes\) and 2 files \(\d+ bytes\)\.\n$`, output(t, []string{"backup"}, own))
	made := s.queryOperator(
		`mutation { runMaintenance(task: BACKUP, reason: "before the move") { backup { name files sizeBytes } } }`)
	require.Contains(t, made, `"files":2`)
	require.Equal(t, 3, strings.Count(output(t, []string{"backup", "list"}, own), "\n"))

	require.Contains(t, complaint(t, []string{"backup", "restore"}, own), "not empty")
	require.Contains(t, complaint(t, []string{"backup", "restore", "--replace"}, own), "in use")
	s.stop()

	// A new installation: its server has made a database, which the backup replaces, and a key, which stays.
	moved := migratedData(t)
	fresh := startServer(t, "STOA_DATA_DIR="+moved)
	fresh.stop()
	restore := []string{"backup", "restore", "--replace", "--new-key", "--from", filepath.Join(s.data, "backups")}
	require.Contains(t, output(t, restore, "STOA_DATA_DIR="+moved), "is restored")
	again := startServer(t, append(noLimits, "STOA_DATA_DIR="+moved)...)
	after := send(t, ada.on(again).Client, http.MethodGet, picture, nil)
	require.Equal(t, http.StatusOK, after.Status)
	require.Equal(t, before.Body, after.Body)
	reconciled := again.queryOperator(
		`mutation { runMaintenance(task: RECONCILE, reason: "after the move") { discrepancies { check } } }`)
	require.Contains(t, reconciled, `"discrepancies":[]`)
}
