package backup_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/backup"
)

const (
	one = "attachments/ab/one.original"
	two = "attachments/cd/two.original"
)

// same reports whether two backups share a file by a hard link.
func (a *testStore) same(x, y *backup.Manifest, key string) bool {
	a.t.Helper()
	before, err := os.Stat(a.path(x, "files", key))
	require.NoError(a.t, err)
	after, err := os.Stat(a.path(y, "files", key))
	require.NoError(a.t, err)
	return os.SameFile(before, after)
}

// flip changes one bit of a backup's file, as a failing disk does: neither its size nor its inode changes.
func (a *testStore) flip(m *backup.Manifest, parts ...string) {
	a.t.Helper()
	f, err := os.OpenFile(a.path(m, parts...), os.O_RDWR, 0)
	require.NoError(a.t, err)
	defer f.Close()
	b := make([]byte, 1)
	_, err = f.ReadAt(b, 1)
	require.NoError(a.t, err)
	b[0] ^= 4
	_, err = f.WriteAt(b, 1)
	require.NoError(a.t, err)
}

// Backups share files, but the newest never shares any with the oldest.
func TestNewestSharesNothingWithOldest(t *testing.T) {
	t.Parallel()
	a := newTestStore(t)
	a.put(one, "one")
	day := 24 * time.Hour
	var shared int
	for n := range 16 {
		for i, m := range a.all() { // a day goes by
			require.NotNil(t, a.age(&m, day), i)
		}
		made := a.made()
		all := a.all()
		if len(all) == 1 {
			continue
		}
		require.False(t, a.same(made, &all[0], one), "on day %d the newest of %d backups shares a file with the oldest", n, len(all))
		if a.same(made, &all[len(all)-2], one) {
			shared++
		}
	}
	require.Len(t, a.all(), 7)
	require.Greater(t, shared, 9, "most backups share their files with the one before")
}

func (a *testStore) all() []backup.Manifest {
	a.t.Helper()
	all, err := a.List()
	require.NoError(a.t, err)
	return all
}

func TestEveryFileHasAChecksum(t *testing.T) {
	t.Parallel()
	a := newTestStore(t)
	a.put(one, "one")
	a.put(two, "two")
	a.made()
	for range 2 { // copied, then shared
		m := a.made()
		check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "SHA256SUMS")
		check.Dir = a.path(m)
		out, err := check.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Equal(t, 3, strings.Count(string(out), ": OK"), "%s", out)
	}
	damaged, err := a.Verify(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, damaged)
}

func TestRestoreOfDamagedBackup(t *testing.T) {
	t.Parallel()
	a := newTestStore(t)
	a.fee(777)
	a.put(one, "one")
	a.put(two, "two")
	m := a.made()
	for _, key := range []string{one, two} {
		require.NoError(t, a.Files.Delete(t.Context(), key))
	}
	a.fee(1)
	a.flip(m, "files", one)
	_, err := a.Restore(t.Context(), backup.RestoreOptions{Replace: true})
	var damaged *backup.DamagedError
	require.ErrorAs(t, err, &damaged)
	require.ErrorContains(t, err, "files/"+one)
	require.NotContains(t, err.Error(), two)
	require.Equal(t, 1, a.fee(0), "nothing was touched")

	_, err = a.Restore(t.Context(), backup.RestoreOptions{Replace: true, SkipDamaged: true})
	require.NoError(t, err)
	require.Equal(t, 777, a.fee(0))
	for key, comes := range map[string]bool{one: false, two: true} {
		there, err := a.Files.Exists(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, comes, there, key)
	}

	for _, vital := range []string{"SHA256SUMS", "database.dump"} {
		broken := a.made()
		a.flip(broken, vital)
		_, err = a.Restore(t.Context(), backup.RestoreOptions{Name: broken.Name, Replace: true, SkipDamaged: true})
		require.ErrorContains(t, err, vital)
		require.Equal(t, 777, a.fee(0))
		require.NoError(t, os.RemoveAll(a.path(broken)))
	}
	lacking := a.made()
	require.NoError(t, os.Remove(a.path(lacking, "files", two)))
	_, err = a.Restore(t.Context(), backup.RestoreOptions{Name: lacking.Name, Replace: true})
	require.ErrorContains(t, err, "it is missing")
}

// A week of daily backups finds every damaged file, and the backup of that day holds it undamaged.
func TestDamageIsFoundWithinAWeek(t *testing.T) {
	t.Parallel()
	a := newTestStore(t)
	const files = 20
	key := func(n int) string { return fmt.Sprintf("attachments/ab/%d.original", n) }
	for n := range files {
		a.put(key(n), fmt.Sprint("content ", n))
	}
	a.made()
	a.made()
	shares := a.made() // with the one before
	require.True(t, a.same(shares, &a.all()[1], key(0)))
	for n := range files {
		a.flip(shares, "files", key(n))
	}
	found := make(map[string]int)
	var known []backup.Damage
	for range 7 {
		for _, m := range a.all() { // a day goes by
			a.age(&m, 24*time.Hour)
		}
		made, damaged, err := a.Daily(t.Context())
		require.NoError(t, err)
		require.NotNil(t, made)
		for _, d := range damaged {
			found[d.Path]++
			known = append(known, d)
			content, err := os.ReadFile(a.path(made, d.Path))
			require.NoError(t, err)
			require.Contains(t, string(content), "content ", "%s was copied again", d.Path)
		}
	}
	require.Len(t, found, files, "all were found")
	require.GreaterOrEqual(t, len(known), 2*files, "each in every backup that shares it")
	latest := a.all()[len(a.all())-1]
	damaged, err := a.Verify(t.Context(), latest.Name)
	require.NoError(t, err)
	require.Empty(t, damaged, "the newest is whole")

	a.flip(&latest, "files", key(0))
	_, err = a.Verify(t.Context(), "")
	require.NoError(t, err)
	remembered, err := a.Damaged()
	require.NoError(t, err)
	require.Contains(t, remembered, backup.Damage{
		Backup: latest.Name, Path: "files/" + key(0), Reason: remembered[len(remembered)-1].Reason,
	})
	for _, d := range remembered {
		require.NoError(t, os.RemoveAll(a.path(&backup.Manifest{Name: d.Backup})))
	}

	remembered, err = a.Damaged()
	require.NoError(t, err)
	require.Empty(t, remembered, "what is gone is not damaged")
}

// Backups of an earlier version have no list of checksums.
func TestBackupsOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	a := newTestStore(t)
	a.put(one, "one")
	m := a.made()
	require.NoError(t, os.Remove(a.path(m, "SHA256SUMS")))
	text, err := os.ReadFile(a.path(m, "manifest.json"))
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	for _, later := range []string{"generation", "checksums_sha256", "empty", "key_fingerprint"} {
		delete(fields, later)
	}
	text, err = json.Marshal(fields)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(a.path(m, "manifest.json"), text, 0o600))
	require.Empty(t, a.all()[0].Generation)
	damaged, err := a.Verify(t.Context(), "")
	require.NoError(t, err)
	require.Empty(t, damaged)
	_, err = a.Restore(t.Context(), backup.RestoreOptions{Replace: true})
	require.NoError(t, err)
	require.False(t, a.same(m, a.made(), one), "nothing is shared that has no checksum")
}
