package main

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/secrets"
	"stoa/graph/graphtest"
)

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
	key := graphtest.Got(secretSettings{given}.readKey(folder))(t)
	require.Equal(t, other, key)
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

// The processes of an installation share one key: the database remembers it, and no other one serves it, unless it is accepted.
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
	require.Equal(t, exitFailure, code)
	require.Contains(t, out, "database  "+recorded+"\nkey       SHA256:")
	require.Contains(t, stderr, "the database belongs to another key")
	out = output(t, []string{"key", "accept"}, database, "STOA_DATA_DIR="+other)
	accepted := recordedKey(t, address)
	require.NotEqual(t, recorded, accepted)
	require.Contains(t, out, accepted)
	require.Equal(t, "database  "+accepted+"\nkey       "+accepted+"\n", output(t, []string{"key"}, database, "STOA_DATA_DIR="+other))
	startServer(t, database, own, "STOA_DATA_DIR="+other)
}

// A database that an earlier version has made gets the fingerprint at its first start.
func TestAnOlderDatabaseGetsAKey(t *testing.T) {
	nightly(t)
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

// A restore neither takes nor keeps another key without a flag, and a backup made with the key brings it back.
func TestRestoreKeepsTheKey(t *testing.T) {
	nightly(t)
	t.Parallel()
	s := startServer(t, append(noLimits, "STOA_DATA_DIR="+migratedData(t))...)
	s.join("Agent", "agent")
	from := "STOA_DATA_DIR=" + s.data
	output(t, []string{"backup"}, from)
	require.Contains(t, output(t, []string{"backup", "--with-key"}, from), "It holds the installation's key")
	held := graphtest.Got(filepath.Glob(filepath.Join(s.data, "backups", "*", secretKeyFile)))(t)
	require.Len(t, held, 1, "only the second")
	requireOwnersAlone(t, held[0])
	key := graphtest.Got(os.ReadFile(filepath.Join(s.data, secretKeyFile)))(t)
	require.Equal(t, key, graphtest.Got(os.ReadFile(held[0]))(t))
	output(t, []string{"backup", "verify"}, from)
	out := output(t, []string{"backup", "list"}, from)
	require.Regexp(t, `(?m)  with key$`, out)
	without := strings.Fields(out)[6]
	s.stop()

	// Another installation, whose server has a key.
	data := migratedData(t)
	moved := startServer(t, "STOA_DATA_DIR="+data)
	moved.stop()
	before := graphtest.Got(os.ReadFile(filepath.Join(data, secretKeyFile)))(t)
	restore := func(args ...string) (int, string) {
		all := append([]string{"backup", "restore", "--replace", "--from", filepath.Join(s.data, "backups")}, args...)
		code, out, stderr := runProgram(t, all, "STOA_DATA_DIR="+data)
		return code, out + stderr
	}
	own := func() string {
		text := graphtest.Got(os.ReadFile(filepath.Join(data, secretKeyFile)))(t)
		return string(text)
	}
	code, said := restore()
	require.Equal(t, exitFailure, code)
	for _, word := range []string{
		"belongs to the key SHA256:", "secret of every webhook", "nothing was restored", "add --with-key", "--new-key",
	} {
		require.Contains(t, said, word)
	}
	// A folder in which no backup holds the key.
	plain := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(plain, without), os.DirFS(filepath.Join(s.data, "backups", without))))
	code, said = restore("--from", plain)
	require.Equal(t, exitFailure, code)
	require.Contains(t, said, "put that key there")
	code, said = restore("--from", plain, "--with-key")
	require.Equal(t, exitFailure, code)
	require.Contains(t, said, "made without --with-key")
	require.Equal(t, string(before), own())
	again := startServer(t, "STOA_DATA_DIR="+data) // nothing has changed
	again.stop()

	code, said = restore("--new-key")
	require.Zero(t, code, said)
	require.Equal(t, string(before), own())
	again = startServer(t, "STOA_DATA_DIR="+data)
	again.stop()

	code, said = restore(without, "--with-key") // the other backup holds it
	require.Zero(t, code, said)
	require.Equal(t, string(key), own())
	requireOwnersAlone(t, filepath.Join(data, secretKeyFile))
	aside := graphtest.Got(filepath.Glob(filepath.Join(data, secretKeyFile+".*")))(t)
	require.Len(t, aside, 1, "the other key stays")
	requireOwnersAlone(t, aside[0])
	text := graphtest.Got(os.ReadFile(aside[0]))(t)
	require.Equal(t, string(before), string(text))
	startServer(t, "STOA_DATA_DIR="+data)
	code, said = restore(without, "--new-key")
	require.Equal(t, exitFailure, code)
	require.Contains(t, said, "in use")
}
