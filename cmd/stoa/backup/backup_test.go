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
	files := graphtest.Got(attachments.OpenStore(t.Context(), "", filepath.Join(t.TempDir(), "files")))(t)
	t.Cleanup(func() { require.NoError(t, files.Close()) })
	return &testStore{t: t, ctx: t.Context(), Store: backup.Store{
		Folder: filepath.Join(t.TempDir(), "backups"), Database: graphtest.NewDatabase(t), Files: files, Version: "test",
	}}
}

// newSmallStore is newTestStore with only the tables that a backup reads, which are dumped and restored faster.
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
	return graphtest.Got(a.Make(a.ctx))(a.t)
}

// database runs statements on a connection that is closed afterwards.
func (a *testStore) database(act func(*sql.DB)) {
	a.t.Helper()
	pool := graphtest.Got(sql.Open("postgres", a.Database))(a.t)
	act(pool)
	require.NoError(a.t, pool.Close())
}

// fee reads a value of the database; with set above 0 it writes the value first.
func (a *testStore) fee(set int) (found int) {
	a.t.Helper()
	a.database(func(d *sql.DB) {
		if set > 0 {
			graphtest.OK(a.t)(d.ExecContext(a.ctx, "UPDATE settings SET fee_bps = $1", set))
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
	var names []string
	for _, m := range graphtest.Got(a.List())(a.t) {
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
		graphtest.OK(t)(d.ExecContext(a.ctx, "CREATE TABLE public.of_a_later_version (); DROP TABLE operations"))
	})
	require.NoError(t, a.Files.Delete(a.ctx, "attachments/ab/one.original"))
	a.put("attachments/cd/two.original", "two")

	restored := graphtest.Got(a.Restore(a.ctx, backup.RestoreOptions{Replace: true}))(t)
	require.Equal(t, m.Name, restored.Name)
	require.Equal(t, 777, a.fee(0))
	a.database(func(d *sql.DB) {
		var n int
		query := "SELECT count(*) FROM pg_tables WHERE tablename IN ('operations', 'of_a_later_version')"
		require.NoError(t, d.QueryRowContext(a.ctx, query).Scan(&n))
		require.Equal(t, 1, n)
	})
	for key, content := range map[string]string{"attachments/ab/one.original": "one", "attachments/cd/two.original": "two"} {
		require.Equal(t, content, string(graphtest.Got(a.Files.ReadAll(a.ctx, key))(t)))
	}
}

// A backup of a version without a pool, with its files in its folder, is listed, verified and restored.
func TestRestoreOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	a := newTestStore(t)
	a.fee(777)
	a.put(one, "one")
	m := a.made()
	require.NoError(t, os.MkdirAll(filepath.Dir(a.path(m, "files", one)), 0o700))
	require.NoError(t, os.Rename(a.pooled("one"), a.path(m, "files", one)))
	require.NoError(t, os.Remove(filepath.Join(a.Folder, "pool")))
	text := graphtest.Got(os.ReadFile(a.path(m, "manifest.json")))(t)
	text = []byte(strings.Replace(string(text), `"pool": true`, `"generation": "`+m.Name+`"`, 1))
	require.NoError(t, os.WriteFile(a.path(m, "manifest.json"), text, 0o600))

	a.fee(1)
	require.NoError(t, a.Files.Delete(a.ctx, one))
	require.Empty(t, graphtest.Got(a.Verify(a.ctx, ""))(t))
	graphtest.OK(t)(a.Restore(a.ctx, backup.RestoreOptions{Replace: true}))
	require.Equal(t, 777, a.fee(0))
	require.Equal(t, "one", string(graphtest.Got(a.Files.ReadAll(a.ctx, one))(t)))

	a.flip(a.path(m, "files", one))
	require.ErrorContains(t, graphtest.Err(a.Restore(a.ctx, backup.RestoreOptions{Replace: true})), "files/"+one)
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
	require.ErrorContains(t, graphtest.Err(a.Restore(a.ctx, backup.RestoreOptions{Name: m.Name, Replace: true})), "is damaged")
	require.Equal(t, 1, a.fee(0))
}

// age makes a backup look older than it is.
func (a *testStore) age(m *backup.Manifest, by time.Duration) *backup.Manifest {
	a.t.Helper()
	older := *m
	at := m.MadeAt.Add(-by)
	older.MadeAt, older.Name = at, at.Format("2006-01-02T15-04-05.000Z")
	require.NoError(a.t, os.Rename(a.path(m), a.path(&older)))
	text := graphtest.Got(os.ReadFile(a.path(&older, "manifest.json")))(a.t)
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

// One backup is made at a time. A failed backup leaves no files, and deletes the leftovers of a crash.
func TestFailedBackupsLeaveNoFiles(t *testing.T) {
	t.Parallel()
	a := newSmallStore(t)
	require.NoError(t, os.MkdirAll(filepath.Join(a.Folder, "2001-01-01T00-00-00.000Z.partial"), 0o700))
	require.Empty(t, a.names())
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	require.Error(t, graphtest.Err(a.Make(gone)))
	for _, entry := range graphtest.Got(os.ReadDir(a.Folder))(t) {
		require.Contains(t, []string{"lock", "pool"}, entry.Name())
	}
	require.Equal(t, a.made().Name, a.names()[0])
	lock := graphtest.Got(os.OpenFile(filepath.Join(a.Folder, "lock"), os.O_RDWR, 0))(t)
	defer lock.Close()
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	require.ErrorIs(t, graphtest.Err(a.Make(a.ctx)), backup.ErrBusy)
	require.ErrorIs(t, graphtest.Err(a.Restore(a.ctx, backup.RestoreOptions{Replace: true})), backup.ErrBusy)
}

func TestDailyMakesOneBackupADay(t *testing.T) {
	t.Parallel()
	a := newSmallStore(t)
	daily := func() *backup.Manifest { return graphtest.Got(a.Daily(a.ctx))(t) }
	require.Nil(t, daily(), "a database of today")
	a.database(func(d *sql.DB) {
		graphtest.OK(t)(d.ExecContext(a.ctx, "UPDATE goose_db_version SET tstamp = tstamp - interval '25 hours'"))
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
