package cluster

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStart(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "data")
	c := start(t, Config{DataDir: folder, Logger: slog.New(slog.DiscardHandler)})
	db := connect(t, c.URL())
	for query, want := range map[string]string{
		"SELECT current_user":       role,
		"SELECT current_database()": role,
		"SELECT rolsuper FROM pg_roles WHERE rolname = current_user":                   "false",
		"SELECT rolcreatedb FROM pg_roles WHERE rolname = current_user":                "false",
		"SELECT rolcreaterole FROM pg_roles WHERE rolname = current_user":              "false",
		"SELECT pg_get_userbyid(datdba) FROM pg_database WHERE datname = 'stoa'":       role,
		"SELECT datcollate FROM pg_database WHERE datname = 'stoa'":                    "C.UTF-8",
		"SELECT pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'stoa'": "UTF8",
		"SHOW listen_addresses":   "",
		"SHOW fsync":              "on",
		"SHOW full_page_writes":   "on",
		"SHOW synchronous_commit": "on",
		"SHOW data_checksums":     "on",
		"SHOW timezone":           "UTC",
		"SHOW jit":                "off",
	} {
		require.Equal(t, want, queryValue[string](t, db, query), query)
	}
	execSQL(t, db, "CREATE EXTENSION pg_trgm")
	execSQL(t, db, "CREATE TABLE kept AS SELECT 42 AS n")

	for _, other := range []string{
		strings.Replace(c.URL(), "stoa@", "postgres@", 1),
		strings.Replace(c.URL(), "/stoa?", "/template1?", 1),
	} {
		require.ErrorContains(t, connect(t, other).PingContext(t.Context()), "no pg_hba.conf entry", other)
	}
	info := must(os.Stat(filepath.Join(folder, "postgres")))(t)
	require.Equal(t, os.ModeDir|0o700, info.Mode())

	stop(t, c)
	stop(t, c)
	eventually(t, func() bool { return isStopped(t, folder) }, "no process is left")
	require.NoFileExists(t, filepath.Join(folder, "postgres", "postmaster.pid"))

	again := start(t, Config{DataDir: folder, Logger: c.log})
	require.Equal(t, c.URL(), again.URL())
	require.Equal(t, 42, queryValue[int](t, connect(t, again.URL()), "SELECT n FROM kept"))
}

func TestTuning(t *testing.T) {
	t.Parallel()
	cfg := config(initialised(t, filepath.Join(t.TempDir(), "data")))
	tuning := filepath.Join(cfg.DataDir, "postgres", tuningFile)
	require.NoError(t, os.WriteFile(tuning, []byte("work_mem = '5MB'\nlisten_addresses = '*'\n"), 0o644))
	db := connect(t, start(t, cfg).URL())
	require.Equal(t, "5MB", queryValue[string](t, db, "SHOW work_mem"))
	require.Empty(t, queryValue[string](t, db, "SHOW listen_addresses"))
}

// Paths that a socket address or a list of hosts cannot hold, and paths that need care in URLs, globs and settings.
func TestPaths(t *testing.T) {
	t.Parallel()
	for name, tail := range map[string]string{
		"long":  strings.Repeat("long/", 40) + "data",
		"comma": "one,two",
		"signs": `it's [a] "strange" 100% näme? #1 *`,
	} {
		t.Run(name, func(t *testing.T) {
			if name != "signs" {
				nightly(t)
			}
			t.Parallel()
			cfg := config(filepath.Join(t.TempDir(), tail))
			c := start(t, cfg)
			require.Equal(t, 1, queryValue[int](t, connect(t, c.URL()), "SELECT 1"))
			require.Empty(t, unfinishedIn(t, strings.NewReplacer("[", `\[`, "?", `\?`, "*", `\*`).Replace(cfg.DataDir)))
			if name == "signs" {
				require.Empty(t, c.link)
				return
			}
			require.NoError(t, os.Remove(c.link))
			eventually(t, func() bool { return connect(t, c.URL()).PingContext(t.Context()) == nil }, "the link comes back")
			stop(t, c)
			require.NoFileExists(t, c.link)
		})
	}
}

func TestStartCancelled(t *testing.T) {
	nightly(t)
	t.Parallel()
	folder := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		_ = wait(ctx, func() (bool, error) { return len(unfinishedIn(t, folder)) > 0, nil })
		cancel()
	}()
	_, err := Start(ctx, config(folder))
	require.ErrorIs(t, err, context.Canceled)
	require.Empty(t, unfinishedIn(t, folder))
	require.NoDirExists(t, filepath.Join(folder, "postgres"))

	c := start(t, config(folder))
	stop(t, c)
	for _, step := range []string{"postmaster.pid", socketFile} {
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			_ = wait(ctx, func() (bool, error) {
				_, err := os.Lstat(filepath.Join(folder, "postgres", step))
				return err == nil, nil
			})
			cancel()
		}()
		c, err := Start(ctx, config(folder))
		cancel()
		if err == nil { // it was ready before the cancellation came
			stop(t, c)
		}
		eventually(t, func() bool { return isStopped(t, folder) }, "no process is left after a cancellation at "+step)
	}
}

func TestStartRefusesStrangeFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(folder, "postgres", "precious"), 0o700))
	if os.Geteuid() == 0 {
		a := nobody(t)
		require.NoError(t, os.Chown(filepath.Join(folder, "postgres"), int(a.Uid), int(a.Gid)))
	}
	_, err := Start(t.Context(), config(folder))
	require.Error(t, err)
	require.DirExists(t, filepath.Join(folder, "postgres", "precious"))
	require.Empty(t, unfinishedIn(t, folder))
}

// A full log replaces the previous log. A full disk loses text, and does not end the output of the database.
func TestLogIsBounded(t *testing.T) {
	t.Parallel()
	c := &Cluster{data: t.TempDir()}
	path := filepath.Join(c.data, "postgres.log")
	log, err := c.openLog()
	require.NoError(t, err)
	for _, full := range []string{"first", "second"} {
		for range logLimit/1000 + 1 {
			_, err := log.Write([]byte(strings.Repeat("x", 1000)))
			require.NoError(t, err)
		}
		_, err = log.Write([]byte(full))
		require.NoError(t, err)
		text, err := os.ReadFile(path)
		require.NoError(t, err)
		require.Equal(t, full, string(text))
	}
	info, err := os.Stat(path + ".1")
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(logLimit+2000))
	require.NoError(t, log.file.Close())

	log.file = must(os.OpenFile("/dev/full", os.O_WRONLY, 0))(t)
	lost, err := log.Write([]byte("lost"))
	require.NoError(t, err)
	require.Equal(t, 4, lost)
	require.NoError(t, log.file.Close())

	require.NoError(t, os.Remove(path))
	require.NoError(t, os.Symlink("elsewhere", path))
	_, err = c.openLog()
	require.Error(t, err)
}

// The error of a failed start contains the messages of the database.
func TestStartFails(t *testing.T) {
	t.Parallel()
	cfg := config(initialised(t, filepath.Join(t.TempDir(), "data")))
	require.NoError(t, os.WriteFile(cfg.DataDir+"/postgres/"+tuningFile, []byte("no_such_setting = 1\n"), 0o644))
	_, err := Start(t.Context(), cfg)
	require.ErrorContains(t, err, "no_such_setting")
	eventually(t, func() bool { return isStopped(t, cfg.DataDir) }, "no process is left")
}

// fakeSet makes a folder with programs that only print a version.
func fakeSet(t *testing.T, dir, version string) string {
	t.Helper()
	require.NoError(t, os.MkdirAll(dir, 0o755))
	script := "#!/bin/sh\necho 'postgres (PostgreSQL) " + version + "'\n"
	for _, name := range []string{"postgres", "initdb"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(script), 0o755))
	}
	return dir
}

func TestFindPrograms(t *testing.T) {
	dir := t.TempDir()
	nine := fakeSet(t, filepath.Join(dir, "9.6", "bin"), "9.6.24")
	fifteen := fakeSet(t, filepath.Join(dir, "15", "bin"), "15.18 (Debian 15.18-0+deb12u1)")
	hundred := fakeSet(t, filepath.Join(dir, "100", "bin"), "100beta1")
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "101", "bin"), 0o755)) // clients only
	here, nowhere := []string{filepath.Join(dir, "*", "bin")}, []string(nil)

	for _, row := range []struct {
		name   string
		places []string
		path   string
		wanted int
		found  programs
		says   []string // instead
	}{
		{name: "highest", places: here, found: programs{hundred, 100}},
		{name: "the cluster's", places: here, wanted: 15, found: programs{fifteen, 15}},
		{name: "on the path", places: nowhere, path: fifteen, found: programs{fifteen, 15}},
		{name: "none", places: nowhere, path: dir, says: []string{"no PostgreSQL server programs", "version 15 or newer", "apt install postgresql)", "STOA_DATABASE_URL"}},
		{name: "too old", places: nowhere, path: nine, says: []string{"is version 9", "apt install postgresql)"}},
		{name: "not the cluster's", places: here, wanted: 16, says: []string{"is version 15", "is version 100", "apt install postgresql-16)"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Setenv("PATH", row.path)
			found, err := findPrograms(t.Context(), row.places, row.wanted)
			require.Equal(t, row.found, found)
			if row.says == nil {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, ErrNoPrograms)
			for _, part := range row.says {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

// The error of a failed program contains only the last lines of its output.
func TestErrorsHaveTheLastLines(t *testing.T) {
	t.Parallel()
	var out Output
	for i := range 400 {
		_, _ = fmt.Fprintf(&out, "line %d of initdb\n", i+1)
	}
	said := out.Explain("initdb", errors.New("exit status 1")).Error()
	require.Regexp(t, `^initdb: exit status 1:\nline \d+ of initdb\n(.*\n)*line 400 of initdb$`, said)
	require.NotContains(t, said, "line 100 of")
}
