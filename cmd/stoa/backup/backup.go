// Package backup makes backups of the database and the files in a folder, verifies and restores them (docs/running.md).
//
// A backup is a folder named by its start time: the database as pg_dump writes it, a list of the SHA-256 of everything, and a
// manifest, which has the SHA-256 of the list. The bytes of files are in the folder pool, under their SHA-256, and all backups
// share them. A backup gets its name only when it is complete and on disk; a crash leaves a folder with another name, which the
// next backup deletes. The database is read first, from one snapshot, and the files after it, so the backup has every file of its
// database, unless the file was deleted in between.
//
// Make compares the shared files with their checksums and copies damaged files from the file store again. A restore compares the
// whole backup before it changes anything.
//
// Processes that share the folder share its lock: one backup is made at a time. A backup is kept for seven days, the newest one
// for ever.
package backup

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
	"gocloud.dev/gcerrors"
	"golang.org/x/sys/unix"

	"stoa/cmd/stoa/cluster"
	"stoa/cmd/stoa/secrets"
	"stoa/graph/attachments"
	"stoa/graph/operator"
	"stoa/graph/platform/db"
)

const (
	interval   = 24 * time.Hour             // how old the last backup must be for Daily to make another
	nameFormat = "2006-01-02T15-04-05.000Z" // of folders; their order is the order in which backups were made
	partial    = ".partial"                 // suffix of an unfinished backup's folder
)

var (
	// ErrNoTables is returned for a database without tables of Stoa.
	ErrNoTables = errors.New("the database is empty: it has no tables of Stoa, so there is nothing to back up")
	// ErrBusy is returned while another backup is made or restored.
	ErrBusy = errors.New("another backup is being made or restored")
)

// Store is a folder of backups, with the database and the files that are backed up.
type Store struct {
	Folder   string             // of the backups
	Database string             // connection URL
	Files    *attachments.Store // the file store
	Version  string             // of the program, for the manifest
	// Key is the installation's key, which Make puts into the backup; nil leaves it out.
	Key []byte
	// Progress, unless nil, gets the size of each file that was copied or read.
	Progress func(bytes int64)
}

func (s Store) progress(bytes int64) {
	if s.Progress != nil {
		s.Progress(bytes)
	}
}

// List returns the complete backups, oldest first. A backup whose manifest cannot be read is listed as damaged.
func (s Store) List() ([]Manifest, error) {
	entries, err := os.ReadDir(s.Folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []Manifest
	for _, entry := range entries {
		if !entry.IsDir() || strings.HasSuffix(entry.Name(), partial) {
			continue
		}
		m, err := readManifest(filepath.Join(s.Folder, entry.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // not a backup
		}
		if err != nil {
			info, gone := entry.Info()
			if gone != nil {
				return nil, gone
			}
			m = Manifest{Name: entry.Name(), MadeAt: info.ModTime(), Damage: err.Error()}
		}
		found = append(found, m)
	}
	return found, nil
}

// lock keeps other processes out until the returned function is called, or returns ErrBusy.
func (s Store) lock() (func(), error) { return cluster.LockFolder(s.Folder, ErrBusy) }

// Daily makes a backup when the last one is a day old, or when no backup exists and the database is a day old; else it returns
// nil. Backups with a damaged manifest do not count.
func (s Store) Daily(ctx context.Context) (*Manifest, error) {
	all, err := s.List()
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(m Manifest) bool { return m.Damage != "" })
	var since time.Time
	if len(all) > 0 {
		since = all[len(all)-1].MadeAt
	} else { // since the database has its first table
		err = s.query(ctx, "SELECT min(tstamp) AT TIME ZONE current_setting('TimeZone') FROM goose_db_version", &since)
	}
	if err != nil {
		return nil, err
	}
	if time.Since(since) < interval {
		return nil, nil //nolint:nilnil // the caller looks for nil
	}
	return s.Make(ctx)
}

// Make makes a backup now, and then deletes expired backups. It returns ErrBusy while another backup is made or restored,
// ErrNoTables for a database without tables, and an error if s.Key is not the key of the database. A failed backup leaves only
// files in the pool, which the next backup uses.
func (s Store) Make(ctx context.Context) (*Manifest, error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	partials, err := fs.Glob(os.DirFS(s.Folder), "*"+partial) // which a crash left
	for _, name := range partials {
		err = errors.Join(err, os.RemoveAll(filepath.Join(s.Folder, name)))
	}
	before, failed := s.List()
	if err = errors.Join(err, failed); err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	m := Manifest{Pool: true, Name: now.Format(nameFormat), MadeAt: now, Version: s.Version}
	err = s.query(ctx, "SELECT NOT EXISTS (SELECT FROM bots)", &m.Empty)
	if pq.As(err, pqerror.UndefinedTable) != nil {
		return nil, ErrNoTables
	}
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(s.Folder, m.Name)
	if err := s.fill(ctx, folder+partial, &m, before); err != nil {
		return nil, errors.Join(fmt.Errorf("the backup: %w", err), os.RemoveAll(folder+partial))
	}
	if err := os.Rename(folder+partial, folder); err != nil {
		return nil, err
	}
	return &m, errors.Join(syncFileSystem(s.Folder), s.prune(append(before, m), now))
}

// fill writes the parts of a backup and syncs them.
func (s Store) fill(ctx context.Context, folder string, m *Manifest, before []Manifest) (err error) {
	if err := errors.Join(os.Mkdir(folder, 0o700), os.MkdirAll(s.poolFolder(), 0o700)); err != nil {
		return err
	}
	dump := filepath.Join(folder, databaseFile)
	if err := s.dump(ctx, dump); err != nil {
		return err
	}
	if m.DatabaseBytes, m.DatabaseSHA256, err = digest(dump); err != nil {
		return err
	}
	sums := checksums{databaseFile: m.DatabaseSHA256}
	if err := s.copyFiles(ctx, m, before, sums); err != nil {
		return err
	}
	if err := s.writeKey(ctx, folder, m, sums); err != nil {
		return err
	}
	if m.ChecksumsSHA256, err = sums.write(folder); err != nil {
		return err
	}
	return errors.Join(m.write(folder), syncFileSystem(folder))
}

// exportsPrefix begins the keys of agents' archives in the file store (graph/exports), which must not outlive an erasure.
const exportsPrefix = "exports/"

// copyFiles copies the file store into the pool, without the archives of agents, and adds the checksums to sums.
func (s Store) copyFiles(ctx context.Context, m *Manifest, before []Manifest, sums checksums) error {
	var known checksums // of the last backup: a file never changes under its key
	if len(before) > 0 {
		known, _ = s.checksumsOf(before[len(before)-1]) // without them all files are copied
	}
	for listed := s.Files.List(nil); ; {
		object, err := listed.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		isFile := !object.IsDir && filepath.IsLocal(filepath.FromSlash(object.Key)) && !strings.ContainsRune(object.Key, '\n')
		if !isFile || strings.HasPrefix(object.Key, exportsPrefix) {
			continue
		}
		path := filesFolder + "/" + object.Key
		sum := known[path]
		if sum == "" || !s.pooled(sum, m) {
			if sum, err = s.pool(ctx, object.Key); gcerrors.Code(err) == gcerrors.NotFound {
				continue // deleted since it was listed
			}
			if err != nil {
				return err
			}
		}
		sums[path] = sum
		m.Files++
		m.FilesBytes += object.Size
		s.progress(object.Size)
	}
}

func (s Store) poolFolder() string { return filepath.Join(s.Folder, "pool") }

// pooled reports whether the pool has the bytes of a checksum, undamaged.
func (s Store) pooled(sum string, m *Manifest) bool {
	_, found, err := digest(filepath.Join(s.poolFolder(), sum))
	if err == nil && found != sum {
		m.Repaired++
	}
	return err == nil && found == sum
}

// pool copies a file of the file store into the pool and returns its checksum.
func (s Store) pool(ctx context.Context, key string) (sum string, err error) {
	reader, err := s.Files.NewReader(ctx, key, nil)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	draft, err := os.CreateTemp(s.poolFolder(), "*"+partial) // with mode 0600
	if err != nil {
		return "", err
	}
	defer os.Remove(draft.Name()) // it was renamed if all went well
	hash := sha256.New()
	_, err = io.Copy(io.MultiWriter(draft, hash), reader)
	if err = errors.Join(err, draft.Close()); err != nil {
		return "", err
	}
	sum = hex.EncodeToString(hash.Sum(nil))
	return sum, os.Rename(draft.Name(), filepath.Join(s.poolFolder(), sum))
}

// writeKey records the key of the database in the manifest, and puts the key into the backup's folder if it is set.
func (s Store) writeKey(ctx context.Context, folder string, m *Manifest, sums checksums) (err error) {
	err = db.UsePlain(s.Database, func(pool *sql.DB) (err error) {
		m.KeyFingerprint, err = secrets.Recorded(ctx, pool)
		return err
	})
	if err != nil || s.Key == nil {
		return err
	}
	own := secrets.Fingerprint(s.Key)
	if m.KeyFingerprint != "" && m.KeyFingerprint != own {
		return otherKeyError(m.KeyFingerprint, own)
	}
	path := filepath.Join(folder, keyFile)
	if err := os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(s.Key)+"\n"), 0o600); err != nil {
		return err
	}
	m.KeyFingerprint, m.HasKey = own, true
	_, sums[keyFile], err = digest(path)
	return err
}

// syncFileSystem waits until everything written to the file system of a folder is on disk.
func syncFileSystem(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// prune deletes expired backups, but never the newest one. Then it deletes the files of the pool that no backup needs, unless the
// list of a backup cannot be read.
func (s Store) prune(all []Manifest, now time.Time) error {
	needed := make(map[string]bool)
	for i, m := range all {
		if i < len(all)-1 && now.Sub(m.MadeAt) > operator.BackupRetention {
			if err := os.RemoveAll(filepath.Join(s.Folder, m.Name)); err != nil {
				return err
			}
			continue
		}
		sums, err := s.checksumsOf(m)
		if err != nil {
			return nil //nolint:nilerr // verification reports it
		}
		for _, sum := range sums {
			needed[sum] = true
		}
	}
	entries, err := os.ReadDir(s.poolFolder())
	for _, entry := range entries {
		if !needed[entry.Name()] {
			err = errors.Join(err, os.Remove(filepath.Join(s.poolFolder(), entry.Name())))
		}
	}
	return err
}
