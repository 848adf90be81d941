package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// fakeSet makes a folder with programs that only know their version.
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

func TestMajorIn(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]int{"15.18 (Debian 15.18-0+deb12u1)": 15, "17beta2": 17, "15\n": 15, "9": 9, "none": 0, "": 0} {
		require.Equal(t, want, majorIn(version), version)
	}
}
