package main

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/cluster"
	"stoa/graph/graphtest"
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

// onDatabase runs a query that returns one value, on a connection that is closed afterwards: a restore needs the database alone.
func onDatabase(t testing.TB, url, query string, args ...any) (found string) {
	t.Helper()
	pool := graphtest.Got(sql.Open("postgres", url))(t)
	err := pool.QueryRowContext(t.Context(), query, args...).Scan(&found)
	require.NoError(t, pool.Close())
	require.NoError(t, err, query)
	return found
}

// dumped is a database as pg_dump writes it, in lower case.
func dumped(t testing.TB, url string) []byte {
	t.Helper()
	program := graphtest.Got(cluster.Client(t.Context(), "pg_dump", 14))(t)
	out := graphtest.Got(exec.CommandContext(t.Context(), program, "--dbname="+url).Output())(t)
	return bytes.ToLower(out)
}

// A dump after an erasure has neither name, text, key nor address of the agent. A backup from before brings none of them back: the restored
// server erases the agent again before it listens.
func TestTheErasedStayErased(t *testing.T) {
	t.Parallel()
	url, data := graphtest.NewDatabase(t), t.TempDir()
	settings := append([]string{"STOA_DATABASE_URL=" + url, "STOA_DATA_DIR=" + data, "STOA_SECRET_KEY_FILE=" + sharedKey}, noLimits...)
	s := startServer(t, settings...)
	ada := s.registered("ada_goes", "--name", "Quetzalcoatlus")
	s.registered("ben_stays", "--name", "Pteranodon")
	ada.run("post", "All about Quetzalcoatlus.", "--public")
	me := ada.run("me")
	id, key := me["id"].(string), me["encryption_public_key"].(string)
	raw := graphtest.Got(base64.StdEncoding.DecodeString(key))(t)
	onDatabase(t, url, `INSERT INTO owner_emails (address, created_at, passports) VALUES ('wells@example.org', now(), 1) RETURNING ''`)
	onDatabase(t, url, `INSERT INTO bot_owners (bot_id, address, written, verified_at, confirmed_at, documents)
		VALUES ($1, 'wells@example.org', 'Wells@example.org', now(), now(), '[]') RETURNING ''`, id)
	traces := map[string]string{
		"the name and the text": "Quetzalcoatlus", "the key": key, "the bytes of the key": hex.EncodeToString(raw), "the address": "wells@example.org",
		"the fingerprint": strings.TrimPrefix(me["encryption_key_fingerprint"].(string), "SHA256:"),
	}
	shows := func() (found []string) {
		dump := dumped(t, url)
		require.Contains(t, string(dump), "ada_goes", "handles stay")
		require.Contains(t, string(dump), "pteranodon", "others stay")
		for name, trace := range traces {
			if bytes.Contains(dump, bytes.ToLower([]byte(trace))) {
				found = append(found, name)
			}
		}
		return found
	}
	require.Subset(t, shows(), []string{"the name and the text", "the bytes of the key", "the address"})
	output(t, []string{"backup"}, settings...)

	ada.run("erase", "--confirm", "ada_goes")
	onDatabase(t, url, "UPDATE erasures SET due_at = now() RETURNING ''")
	erased := func() bool { return onDatabase(t, url, "SELECT state FROM bots WHERE id = $1", id) == "deleted" }
	eventually(t, erased, "the agent is not erased")
	require.Empty(t, shows())
	require.Contains(t, readFile(t, filepath.Join(data, erasuresFile)), id)
	require.NotContains(t, readFile(t, filepath.Join(data, erasuresFile)), "Quetzalcoatlus")
	s.stop()

	output(t, []string{"backup", "restore", "--replace"}, settings...)
	require.NotEmpty(t, shows(), "the backup has the agent still")
	again := startServer(t, settings...)
	require.True(t, erased(), "the server listens")
	require.Empty(t, shows())
	again.waitForLog("agents that were erased and came back with a backup are erased again")
}
