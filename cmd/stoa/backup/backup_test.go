package backup_test

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"stoa/cmd/stoa/backup"
	"stoa/graph/attachments"
	"stoa/graph/graphtest"
)

// testStore is a database, a file store and their backups.
type testStore struct {
	backup.Store
	t   *testing.T
	ctx context.Context
}

func newTestStore(t *testing.T) *testStore {
	t.Helper()
	files, err := attachments.OpenStore(t.Context(), "", filepath.Join(t.TempDir(), "files"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, files.Close()) })
	return &testStore{t: t, ctx: t.Context(), Store: backup.Store{
		Folder: filepath.Join(t.TempDir(), "backups"), Database: graphtest.NewDatabase(t), Files: files, Version: "test",
	}}
}

// newSmallStore is newTestStore with the few tables that a backup looks at, which are dumped and restored faster.
func newSmallStore(t *testing.T) *testStore {
	t.Helper()
	a := newTestStore(t)
	a.database(func(d *sql.DB) {
		_, err := d.ExecContext(t.Context(), `DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE bots ();
			CREATE TABLE installation_key (fingerprint text); CREATE TABLE goose_db_version AS SELECT now()::timestamp AS tstamp;
			CREATE TABLE settings AS SELECT 1 AS fee_bps`)
		require.NoError(t, err)
	})
	return a
}

func (a *testStore) made() *backup.Manifest {
	a.t.Helper()
	m, err := a.Make(a.ctx)
	require.NoError(a.t, err)
	return m
}

// database runs statements on a connection that is closed afterwards.
func (a *testStore) database(act func(*sql.DB)) {
	a.t.Helper()
	pool, err := sql.Open("postgres", a.Database)
	require.NoError(a.t, err)
	act(pool)
	require.NoError(a.t, pool.Close())
}

// fee reads or, with a value above 0, writes something that a backup holds.
func (a *testStore) fee(set int) (found int) {
	a.t.Helper()
	a.database(func(d *sql.DB) {
		if set > 0 {
			_, err := d.ExecContext(a.ctx, "UPDATE settings SET fee_bps = $1", set)
			require.NoError(a.t, err)
		}
		require.NoError(a.t, d.QueryRowContext(a.ctx, "SELECT fee_bps FROM settings").Scan(&found))
	})
	return found
}

func (a *testStore) put(key, content string) {
	a.t.Helper()
	require.NoError(a.t, a.Files.WriteAll(a.ctx, key, []byte(content), nil))
}

func (a *testStore) path(m *backup.Manifest, parts ...string) string {
	return filepath.Join(append([]string{a.Folder, m.Name}, parts...)...)
}

func (a *testStore) names() []string {
	a.t.Helper()
	all, err := a.List()
	require.NoError(a.t, err)
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
	}
	return names
}

func TestRestore(t *testing.T) {
	t.Parallel()
	a := newTestStore(t)
	a.fee(777)
	a.put("attachments/ab/one.original", "one")
	m := a.made()
	require.Equal(t, int64(1), m.Files)
	require.Equal(t, int64(3), m.FilesBytes)
	require.Equal(t, []string{m.Name}, a.names())

	a.fee(1)
	a.database(func(d *sql.DB) {
		_, err := d.ExecContext(a.ctx, "CREATE TABLE public.of_a_later_version (); DROP TABLE operations")
		require.NoError(t, err)
	})
	require.NoError(t, a.Files.Delete(a.ctx, "attachments/ab/one.original"))
	a.put("attachments/cd/two.original", "two")

	restored, err := a.Restore(a.ctx, backup.RestoreOptions{Replace: true})
	require.NoError(t, err)
	require.Equal(t, m.Name, restored.Name)
	require.Equal(t, 777, a.fee(0))
	a.database(func(d *sql.DB) {
		var n int
		query := "SELECT count(*) FROM pg_tables WHERE tablename IN ('operations', 'of_a_later_version')"
		require.NoError(t, d.QueryRowContext(a.ctx, query).Scan(&n))
		require.Equal(t, 1, n)
	})
	for key, content := range map[string]string{"attachments/ab/one.original": "one", "attachments/cd/two.original": "two"} {
		found, err := a.Files.ReadAll(a.ctx, key)
		require.NoError(t, err)
		require.Equal(t, content, string(found))
	}
}

// A backup that a version without a pool made, with its files in its own folder, is listed, verified and restored.
func TestRestoreOfTheVersionBefore(t *testing.T) {
	t.Parallel()
	a := newTestStore(t)
	a.fee(777)
	a.put(one, "one")
	m := a.made()
	require.NoError(t, os.MkdirAll(filepath.Dir(a.path(m, "files", one)), 0o700))
	require.NoError(t, os.Rename(a.pooled("one"), a.path(m, "files", one)))
	require.NoError(t, os.Remove(filepath.Join(a.Folder, "pool")))
	text, err := os.ReadFile(a.path(m, "manifest.json"))
	require.NoError(t, err)
	text = []byte(strings.Replace(string(text), `"pool": true`, `"generation": "`+m.Name+`"`, 1))
	require.NoError(t, os.WriteFile(a.path(m, "manifest.json"), text, 0o600))

	a.fee(1)
	require.NoError(t, a.Files.Delete(a.ctx, one))
	damaged, err := a.Verify(a.ctx, "")
	require.NoError(t, err)
	require.Empty(t, damaged)
	_, err = a.Restore(a.ctx, backup.RestoreOptions{Replace: true})
	require.NoError(t, err)
	require.Equal(t, 777, a.fee(0))
	found, err := a.Files.ReadAll(a.ctx, one)
	require.NoError(t, err)
	require.Equal(t, "one", string(found))

	a.flip(a.path(m, "files", one))
	_, err = a.Restore(a.ctx, backup.RestoreOptions{Replace: true})
	require.ErrorContains(t, err, "files/"+one)
	require.Zero(t, a.made().Repaired)
	require.FileExists(t, a.pooled("one"), "the next backup shares nothing with it")
}

func TestRestoreRefusals(t *testing.T) {
	t.Parallel()
	a := newTestStore(t)
	a.fee(777)
	m := a.made()
	a.fee(1)
	_, err := a.Restore(a.ctx, backup.RestoreOptions{})
	require.ErrorIs(t, err, backup.ErrNotEmpty)
	_, err = a.Restore(a.ctx, backup.RestoreOptions{Name: "2001-01-01T00-00-00.000Z", Replace: true})
	require.ErrorIs(t, err, backup.ErrNotFound)
	a.database(func(d *sql.DB) {
		require.NoError(t, d.PingContext(a.ctx))
		_, err := a.Restore(a.ctx, backup.RestoreOptions{Replace: true})
		require.ErrorIs(t, err, backup.ErrInUse)
	})
	require.NoError(t, os.WriteFile(a.path(m, "database.dump"), []byte("half of it"), 0o600))
	_, err = a.Restore(a.ctx, backup.RestoreOptions{Name: m.Name, Replace: true})
	require.ErrorContains(t, err, "is damaged")
	require.Equal(t, 1, a.fee(0))
}

// age makes a backup look older than it is.
func (a *testStore) age(m *backup.Manifest, by time.Duration) *backup.Manifest {
	a.t.Helper()
	older := *m
	at := m.MadeAt.Add(-by)
	older.MadeAt, older.Name = at, at.Format("2006-01-02T15-04-05.000Z")
	require.NoError(a.t, os.Rename(a.path(m), a.path(&older)))
	text, err := os.ReadFile(a.path(&older, "manifest.json"))
	require.NoError(a.t, err)
	stamp := func(t time.Time) string { return t.Format(time.RFC3339Nano) }
	aged := strings.Replace(string(text), stamp(m.MadeAt), stamp(at), 1)
	require.NoError(a.t, os.WriteFile(a.path(&older, "manifest.json"), []byte(aged), 0o600))
	return &older
}

func TestRetention(t *testing.T) {
	t.Parallel()
	a := newSmallStore(t)
	ancient := a.age(a.made(), 8*24*time.Hour)
	require.Equal(t, []string{ancient.Name}, a.names(), "the last good one stays, however old")
	recent := a.age(a.made(), 6*24*time.Hour)
	require.Equal(t, []string{recent.Name}, a.names())
	latest := a.made()
	require.Equal(t, []string{recent.Name, latest.Name}, a.names())
}

func TestPartialBackupIsRemoved(t *testing.T) {
	t.Parallel()
	a := newSmallStore(t)
	left := filepath.Join(a.Folder, "2001-01-01T00-00-00.000Z.partial")
	require.NoError(t, os.MkdirAll(left, 0o700))
	require.Empty(t, a.names())
	m := a.made()
	require.NoDirExists(t, left)
	require.Equal(t, []string{m.Name}, a.names())
}

func TestFailedBackupLeavesNothing(t *testing.T) {
	t.Parallel()
	a := newSmallStore(t)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.Make(gone)
	require.Error(t, err)
	entries, err := os.ReadDir(a.Folder)
	require.NoError(t, err)
	for _, entry := range entries {
		require.Contains(t, []string{"lock", "pool"}, entry.Name())
	}
}

func TestOneAtATime(t *testing.T) {
	t.Parallel()
	a := newSmallStore(t)
	a.made()
	lock, err := os.OpenFile(filepath.Join(a.Folder, "lock"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer lock.Close()
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	_, err = a.Make(a.ctx)
	require.ErrorIs(t, err, backup.ErrBusy)
	_, err = a.Restore(a.ctx, backup.RestoreOptions{Replace: true})
	require.ErrorIs(t, err, backup.ErrBusy)
}

func TestDailyMakesOneBackupADay(t *testing.T) {
	t.Parallel()
	a := newSmallStore(t)
	daily := func() *backup.Manifest {
		m, err := a.Daily(a.ctx)
		require.NoError(t, err)
		return m
	}
	require.Nil(t, daily(), "a database of today")
	a.database(func(d *sql.DB) {
		_, err := d.ExecContext(a.ctx, "UPDATE goose_db_version SET tstamp = tstamp - interval '25 hours'")
		require.NoError(t, err)
	})
	m := daily()
	require.NotNil(t, m)
	require.Nil(t, daily())
	a.age(m, 25*time.Hour)
	m = daily()
	require.NotNil(t, m)
	require.NoError(t, os.WriteFile(a.path(m, "manifest.json"), []byte("{"), 0o600))
	require.NotNil(t, daily(), "a backup with a damaged manifest does not count")
}
