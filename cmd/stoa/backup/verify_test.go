package backup_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/backup"
	"stoa/graph/graphtest"
)

const (
	one = "attachments/ab/one.original"
	two = "attachments/cd/two.original"
)

// pooled returns the path of a content in the pool.
func (a *testStore) pooled(content string) string {
	sum := sha256.Sum256([]byte(content))
	return filepath.Join(a.Folder, "pool", hex.EncodeToString(sum[:]))
}

// flip changes one bit of a file, as a failing disk does: neither its size nor its inode changes.
func (a *testStore) flip(path string) {
	a.t.Helper()
	f := graphtest.Got(os.OpenFile(path, os.O_RDWR, 0))(a.t)
	defer f.Close()
	b := make([]byte, 1)
	graphtest.OK(a.t)(f.ReadAt(b, 1))
	b[0] ^= 4
	graphtest.OK(a.t)(f.WriteAt(b, 1))
}

func (a *testStore) inPool() int {
	a.t.Helper()
	return len(graphtest.Got(os.ReadDir(filepath.Join(a.Folder, "pool")))(a.t))
}

// Backups share each content, even of two files, until the last backup that needs it is deleted.
func TestBackupsShareFiles(t *testing.T) {
	t.Parallel()
	a := newSmallStore(t)
	a.put(one, "content")
	a.put(two, "content")
	first := a.made()
	require.Equal(t, int64(2), first.Files)
	require.Equal(t, 1, a.inPool())
	before := graphtest.Got(os.Stat(a.pooled("content")))(t)
	a.put("attachments/ef/three.original", "other")
	second := a.made()
	after := graphtest.Got(os.Stat(a.pooled("content")))(t)
	require.True(t, os.SameFile(before, after), "it is not copied again")
	require.Equal(t, 2, a.inPool())

	for _, key := range []string{one, two} {
		require.NoError(t, a.Files.Delete(t.Context(), key))
	}
	a.age(first, 8*24*time.Hour)
	second = a.age(second, 6*24*time.Hour)
	a.made()
	require.Equal(t, 2, a.inPool(), "the second backup needs it")
	require.NoError(t, os.Remove(filepath.Join(a.Folder, "pool", filepath.Base(a.pooled("other")))))
	damaged := graphtest.Got(a.Verify(t.Context(), second.Name))(t)
	require.Len(t, damaged, 1)
	require.Contains(t, damaged[0].Reason, "it is missing")
	a.age(second, 2*24*time.Hour)
	a.made()
	require.Equal(t, 1, a.inPool())
	require.FileExists(t, a.pooled("other"), "it is copied again")
}

// A backup copies a damaged file of the pool from the file store again, which repairs earlier backups too.
func TestDamageIsRepaired(t *testing.T) {
	t.Parallel()
	a := newSmallStore(t)
	a.put(one, "one")
	a.put(two, "two")
	a.made()
	a.made()
	a.flip(a.pooled("one"))
	damaged := graphtest.Got(a.Verify(t.Context(), ""))(t)
	require.Len(t, damaged, 2, "it is in both backups")
	require.Equal(t, "files/"+one, damaged[0].Path)
	require.EqualValues(t, 1, a.Verified(damaged[0].Backup).Damaged)
	require.Equal(t, int64(1), a.made().Repaired)
	all := graphtest.Got(a.List())(t)
	last := all[len(all)-1].Name
	require.Nil(t, a.Verified(last))
	require.Empty(t, graphtest.Got(a.Verify(t.Context(), ""))(t))
	require.Zero(t, a.Verified(last).Damaged)
	require.False(t, a.Verified(last).At.Before(all[len(all)-1].MadeAt))
	require.Zero(t, a.made().Repaired)
}

func TestRestoreOfDamagedBackup(t *testing.T) {
	t.Parallel()
	a := newSmallStore(t)
	a.fee(777)
	a.put(one, "one")
	a.put(two, "two")
	a.made()
	for _, key := range []string{one, two} {
		require.NoError(t, a.Files.Delete(t.Context(), key))
	}
	a.fee(1)
	a.flip(a.pooled("one"))
	_, err := a.Restore(t.Context(), backup.RestoreOptions{Replace: true})
	require.ErrorContains(t, err, "files/"+one)
	require.NotContains(t, err.Error(), two)
	require.Equal(t, 1, a.fee(0), "nothing was touched")

	graphtest.OK(t)(a.Restore(t.Context(), backup.RestoreOptions{Replace: true, SkipDamaged: true}))
	require.Equal(t, 777, a.fee(0))
	for key, comes := range map[string]bool{one: false, two: true} {
		there, err := a.Files.Exists(t.Context(), key)
		require.NoError(t, err)
		require.Equal(t, comes, there, key)
	}

	for _, vital := range []string{"SHA256SUMS", "database.dump"} {
		broken := a.made()
		a.flip(a.path(broken, vital))
		_, err = a.Restore(t.Context(), backup.RestoreOptions{Name: broken.Name, Replace: true, SkipDamaged: true})
		require.ErrorContains(t, err, vital)
		require.Equal(t, 777, a.fee(0))
		require.NoError(t, os.RemoveAll(a.path(broken)))
	}
}

// A backup with a damaged manifest cannot be restored; other backups and the next one work.
func TestADamagedManifestStopsNoOtherBackup(t *testing.T) {
	t.Parallel()
	a := newSmallStore(t)
	a.put(one, "one")
	broken, whole := a.made(), a.made()
	a.fee(777)
	require.NoError(t, os.WriteFile(a.path(broken, "manifest.json"), []byte("{"), 0o600))
	a.made()
	all := graphtest.Got(a.List())(t)
	require.Len(t, all, 3)
	require.NotEmpty(t, all[0].Damage)
	require.WithinDuration(t, broken.MadeAt, all[0].MadeAt, time.Hour)
	damaged, err := a.Verify(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, damaged, 1)
	require.Equal(t, broken.Name+"/manifest.json", damaged[0].Backup+"/"+damaged[0].Path)

	_, err = a.Restore(t.Context(), backup.RestoreOptions{Name: broken.Name, Replace: true, SkipDamaged: true})
	require.ErrorContains(t, err, "manifest.json")
	require.Equal(t, 777, a.fee(0))
	graphtest.OK(t)(a.Restore(t.Context(), backup.RestoreOptions{Name: whole.Name, Replace: true}))
	require.Equal(t, 1, a.fee(0))
}
