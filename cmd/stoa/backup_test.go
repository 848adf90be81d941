package main

import (
	"bytes"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/cluster"
	"stoa/cmd/stoa/secrets"
	"stoa/graph/graphtest"
	"stoa/graph/lifecycle"
)

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
	return bytes.ToLower(graphtest.Got(exec.CommandContext(t.Context(), program, "--dbname="+url).Output())(t))
}

// A dump after an erasure has neither name, text, key nor address of the agent. After a restore of an earlier backup, the server
// erases the agent again before it listens.
func TestErasedAgentsStayErased(t *testing.T) {
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

// A record that a full disk or a crash has cut does not damage the next one.
func TestACutRecordOfAnErasure(t *testing.T) {
	t.Parallel()
	var settings databaseSettings
	settings.DataDir = t.TempDir()
	file := filepath.Join(settings.DataDir, erasuresFile)
	cut, next := lifecycle.Erased{BotID: uuid.New(), ErasureID: uuid.New()}, lifecycle.Erased{BotID: uuid.New(), ErasureID: uuid.New()}
	require.NoError(t, settings.recordErased(cut))
	require.NoError(t, os.Truncate(file, int64(len(readFile(t, file))/2)))
	require.NoError(t, settings.recordErased(next))
	require.NoError(t, settings.recordErased(cut))
	require.Equal(t, []lifecycle.Erased{next, cut}, graphtest.Got(settings.erasures())(t))
}

func TestSecretKey(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	made := graphtest.Got(secretSettings{}.readOrMakeKey(folder))(t)
	require.Len(t, made, 32)
	requireOwnersAlone(t, filepath.Join(folder, secretKeyFile))
	require.Equal(t, made, graphtest.Got(secretSettings{}.readOrMakeKey(folder))(t))
	other := graphtest.Got(secretSettings{}.readOrMakeKey(t.TempDir()))(t)
	require.NotEqual(t, made, other)
	require.NotEqual(t, secrets.Fingerprint(made), secrets.Fingerprint(other))

	given := filepath.Join(folder, "given")
	require.ErrorContains(t, secretSettings{given}.checkKey(folder), "the installation's key: open")
	require.NoError(t, os.WriteFile(given, []byte(base64.StdEncoding.EncodeToString(other)+"\n"), 0o600))
	require.Equal(t, other, graphtest.Got(secretSettings{given}.readKey(folder))(t))
	for _, wrong := range []string{"", "short", base64.StdEncoding.EncodeToString(other[:31])} {
		require.NoError(t, os.WriteFile(given, []byte(wrong), 0o600))
		require.ErrorContains(t, secretSettings{given}.checkKey(folder), "must hold 32 bytes in base64")
	}
}

func requireOwnersAlone(t *testing.T, path string) {
	t.Helper()
	require.Equal(t, os.FileMode(0o600), graphtest.Got(os.Stat(path))(t).Mode().Perm(), path)
}

// A key that its group or others may read or write is refused at start, wherever it is.
func TestKeyOpenToOthersIsRefused(t *testing.T) {
	t.Parallel()
	for _, named := range []bool{true, false} {
		data := t.TempDir()
		path := filepath.Join(data, secretKeyFile)
		settings := []string{"STOA_DATA_DIR=" + data, "STOA_DATABASE_URL=postgres://stoa@127.0.0.1:1/stoa", "STOA_SECRET_KEY_FILE="}
		if named {
			path = filepath.Join(t.TempDir(), "key")
			settings[2] += path
		}
		require.NoError(t, makeSecret(path, base64.StdEncoding))
		for _, mode := range []os.FileMode{0o604, 0o644, 0o620, 0o602, 0o610, 0o777, 0o640} {
			require.NoError(t, os.Chmod(path, mode))
			require.ErrorContains(t, secretSettings{path}.checkKey(data), fmt.Sprintf("is open to others: %s has mode %04o", path, mode))
		}
		require.Contains(t, complaint(t, []string{"serve"}, settings...), "is open to others: "+path+" has mode 0640")
		require.NoError(t, os.Chmod(path, 0o400))
		require.NoError(t, secretSettings{path}.checkKey(data))
	}
}

// The processes of an installation share one key: the database remembers it, and refuses another key, unless it is accepted.
func TestADatabaseBelongsToOneKey(t *testing.T) {
	t.Parallel()
	address := graphtest.NewDatabase(t)
	database := "STOA_DATABASE_URL=" + address
	own := "STOA_SECRET_KEY_FILE="
	first := startServer(t, database, own)
	firstKey := filepath.Join(first.data, secretKeyFile)
	require.FileExists(t, firstKey)
	recorded := recordedKey(t, address)
	require.Regexp(t, `^SHA256:[A-Za-z0-9+/]{43}$`, recorded)

	other := t.TempDir()
	refused := launchServer(t, database, own, "STOA_DATA_DIR="+other)
	require.Equal(t, exitFailure, refused.waitExit())
	require.Contains(t, refused.log.String(), "the installation's key is missing: the database belongs to the key "+recorded)
	require.NoFileExists(t, filepath.Join(other, secretKeyFile), "it would be another one")
	startServer(t, database, "STOA_SECRET_KEY_FILE="+firstKey)

	require.NoError(t, makeSecret(filepath.Join(other, secretKeyFile), base64.StdEncoding))
	refused = launchServer(t, database, own, "STOA_DATA_DIR="+other)
	require.Equal(t, exitFailure, refused.waitExit())
	for _, said := range []string{
		recorded, "is another one", "secret of every webhook", "links that were mailed", "stoa key accept", "--with-key",
	} {
		require.Contains(t, refused.log.String(), said)
	}
	require.Equal(t, recorded, recordedKey(t, address))
	require.Contains(t, complaint(t, []string{"seed"}, database, own, "STOA_DATA_DIR="+other), "is another one")

	code, out, stderr := runProgram(t, []string{"key"}, database, "STOA_DATA_DIR="+other)
	fails(t, exitFailure, "the database belongs to another key")(code, out, stderr)
	require.Contains(t, out, "database  "+recorded+"\nkey       SHA256:")
	out = output(t, []string{"key", "accept"}, database, "STOA_DATA_DIR="+other)
	accepted := recordedKey(t, address)
	require.NotEqual(t, recorded, accepted)
	require.Contains(t, out, accepted)
	require.Equal(t, "database  "+accepted+"\nkey       "+accepted+"\n", output(t, []string{"key"}, database, "STOA_DATA_DIR="+other))
	startServer(t, database, own, "STOA_DATA_DIR="+other)
}

// A database that an earlier version has made gets the fingerprint at its first start.
func TestAnOlderDatabaseGetsAKey(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	data := migratedData(t)
	require.NoError(t, makeSecret(filepath.Join(data, secretKeyFile), base64.StdEncoding))
	require.Contains(t, output(t, []string{"key"}, "STOA_DATA_DIR="+data), "database  none yet\nkey       SHA256:")
	s := startServer(t, "STOA_DATA_DIR="+data)
	lines := strings.Fields(output(t, []string{"key"}, "STOA_DATA_DIR="+data))
	require.Equal(t, lines[1], lines[3])
	require.NotContains(t, s.log.String(), "key is another")
}

func recordedKey(t *testing.T, address string) string {
	t.Helper()
	return onDatabase(t, address, "SELECT fingerprint FROM installation_key")
}

// A backup that is restored into another data folder makes a server like the original. If the keys differ, the restore needs a
// flag that selects one; a backup with the key restores it.
func TestBackupRestoresServer(t *testing.T) {
	graphtest.Nightly(t)
	t.Parallel()
	s := startServer(t, append(noLimits, "STOA_DATA_DIR="+migratedData(t))...)
	ada := s.join("Agent", "agent")
	picture := "/attachments/" + s.uploadImage(ada, "portfolio") + "/download"
	shown := get(t, ada.Client, picture)

	// The command makes a backup beside the server, and so does an operator.
	from, backups := "STOA_DATA_DIR="+s.data, filepath.Join(s.data, "backups")
	require.Regexp(t, `^Backup \S+ holds the database \(\d+ bytes\) and 2 files \(\d+ bytes\)\.\n$`, output(t, []string{"backup"}, from))
	require.Contains(t, output(t, []string{"backup", "--with-key"}, from), "It holds the installation's key")
	made := s.queryOperator(`mutation { runMaintenance(task: BACKUP, reason: "before the move") { backup { name files sizeBytes } } }`)
	require.Contains(t, made, `"files":2`)
	held := graphtest.Got(filepath.Glob(filepath.Join(backups, "*", secretKeyFile)))(t)
	require.Len(t, held, 1, "only the second")
	requireOwnersAlone(t, held[0])
	key := readFile(t, filepath.Join(s.data, secretKeyFile))
	require.Equal(t, key, readFile(t, held[0]))
	output(t, []string{"backup", "verify"}, from)
	list := output(t, []string{"backup", "list"}, from)
	require.Equal(t, 4, strings.Count(list, "\n"))
	require.Regexp(t, `(?m)  with key$`, list)
	without := strings.Fields(list)[6]
	require.Contains(t, complaint(t, []string{"backup", "restore"}, from), "not empty")
	require.Contains(t, complaint(t, []string{"backup", "restore", "--replace"}, from), "in use")
	s.stop()

	// Another installation has a key, and a database, which the backup replaces.
	data := migratedData(t)
	startServer(t, "STOA_DATA_DIR="+data).stop()
	own := func() string { return readFile(t, filepath.Join(data, secretKeyFile)) }
	before := own()
	restore := func(args ...string) (code int, stdout, stderr string) {
		return runProgram(t, append([]string{"backup", "restore", "--replace", "--from", backups}, args...), "STOA_DATA_DIR="+data)
	}
	fails(t, exitFailure, "belongs to the key SHA256:", "secret of every webhook", "nothing was restored", "add --with-key",
		"--new-key")(restore())
	plain := t.TempDir() // no backup here holds the key
	for _, name := range []string{without, "pool"} {
		require.NoError(t, os.CopyFS(filepath.Join(plain, name), os.DirFS(filepath.Join(backups, name))))
	}
	fails(t, exitFailure, "put that key there")(restore("--from", plain))
	fails(t, exitFailure, "made without --with-key")(restore("--from", plain, "--with-key"))
	require.Equal(t, before, own())
	startServer(t, "STOA_DATA_DIR="+data).stop() // nothing has changed

	require.Contains(t, succeeds(t)(restore("--new-key")), "is restored")
	require.Equal(t, before, own())
	again := startServer(t, append(noLimits, "STOA_DATA_DIR="+data)...)
	after := get(t, ada.on(again).Client, picture)
	require.Equal(t, http.StatusOK, after.Status)
	require.Equal(t, shown.Body, after.Body)
	reconciled := again.queryOperator(`mutation { runMaintenance(task: RECONCILE, reason: "after the move") { discrepancies { check } } }`)
	require.Contains(t, reconciled, `"discrepancies":[]`)
	again.stop()

	succeeds(t)(restore(without, "--with-key")) // the other backup holds it
	require.Equal(t, key, own())
	requireOwnersAlone(t, filepath.Join(data, secretKeyFile))
	aside := graphtest.Got(filepath.Glob(filepath.Join(data, secretKeyFile+".*")))(t)
	require.Len(t, aside, 1, "the other key stays")
	requireOwnersAlone(t, aside[0])
	require.Equal(t, before, readFile(t, aside[0]))
	startServer(t, "STOA_DATA_DIR="+data)
	fails(t, exitFailure, "in use")(restore(without, "--new-key"))
}
