package backup

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"

	"stoa/cmd/stoa/secrets"
)

var (
	// ErrNotEmpty is returned if a restore would delete tables of the database.
	ErrNotEmpty = errors.New("the database is not empty: add --replace to lose its contents")
	// ErrInUse is returned while other sessions use the database.
	ErrInUse = errors.New("the database is in use; stop the server first")
	// ErrNotFound is returned if the folder has no backup, or none with that name.
	ErrNotFound = errors.New("there is no such backup")
)

// Damage is a damaged file of a backup.
type Damage struct {
	Backup string // its name
	Path   string // as in the list of checksums, or the path of the list itself
	Reason string
}

// damagedError names the first ten of the damaged files of a backup that is not restored.
func damagedError(backup string, damaged []Damage) error {
	const shown = 10
	var text strings.Builder
	fmt.Fprintf(&text, "backup %s is damaged in %d files", backup, len(damaged))
	for _, d := range damaged[:min(shown, len(damaged))] {
		fmt.Fprintf(&text, "\n  %s: %s", d.Path, d.Reason)
	}
	return fmt.Errorf("%s\nnothing was restored: choose another backup (stoa backup list), or add --skip-damaged to restore"+
		" without these files; a damaged database or list of checksums cannot be skipped", &text)
}

// otherKeyError reports both fingerprints if a database or a backup belongs to another key than the installation's, and names the
// consequences of using that key. found is empty if the installation has no key.
func otherKeyError(wanted, found string) error {
	own := "and the installation's is " + found
	if found == "" {
		own = "and the installation has none"
	}
	return fmt.Errorf("the database belongs to the key %s, %s; %s", wanted, own, secrets.Consequences)
}

// Verify reads all files of a backup, or of every backup if name is empty, and returns the damaged files.
func (s Store) Verify(ctx context.Context, name string) ([]Damage, error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	all, err := s.List()
	if name != "" {
		var m Manifest
		m, err = s.find(name)
		all = []Manifest{m}
	}
	if err != nil {
		return nil, err
	}
	var found []Damage
	read := make(map[string]string)
	for _, m := range all {
		damaged, err := s.verify(ctx, m, read)
		if err != nil {
			return nil, err
		}
		found = append(found, damaged...)
		if text, err := json.Marshal(Verification{time.Now().UTC(), int64(len(damaged))}); err == nil {
			_ = os.WriteFile(filepath.Join(s.Folder, m.Name, verifiedFile), text, 0o600) // the folder may not be writable
		}
	}
	return found, nil
}

// verifiedFile holds the last Verification of a backup, in its folder. It belongs to no list of checksums.
const verifiedFile = "verified.json"

// Verification records when the files of a backup were compared with their checksums, and how many were damaged.
type Verification struct {
	At      time.Time `json:"at"`
	Damaged int64     `json:"damaged"`
}

// Verified returns the last verification of a backup; nil if none is known.
func (s Store) Verified(name string) *Verification {
	v := new(Verification)
	text, err := os.ReadFile(filepath.Join(s.Folder, name, verifiedFile))
	if err != nil || json.Unmarshal(text, v) != nil {
		return nil
	}
	return v
}

// verify reads the files of a backup and returns the damaged files. read holds, for each path that was read before, the reason
// why it is damaged, or "".
func (s Store) verify(ctx context.Context, m Manifest, read map[string]string) (found []Damage, err error) {
	if m.Damage != "" {
		return []Damage{{m.Name, manifestFile, m.Damage}}, nil
	}
	sums, err := s.checksumsOf(m)
	if err != nil {
		return []Damage{{m.Name, checksumsFile, err.Error()}}, nil //nolint:nilerr // the damage contains the error
	}
	for name, want := range sums {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		path := s.path(m, name, want)
		reason, known := read[path]
		if !known {
			size, sum, err := digest(path)
			switch {
			case errors.Is(err, os.ErrNotExist):
				reason = "it is missing: " + err.Error()
			case err != nil:
				reason = "it cannot be read: " + err.Error()
			case sum != want:
				reason = "its checksum is " + sum + " instead of " + want
			}
			read[path] = reason
			s.progress(size)
		}
		if reason != "" {
			found = append(found, Damage{m.Name, name, reason})
		}
	}
	return found, nil
}

// RestoreOptions select a backup, and the losses that its restore may cause. They are flags of the command line, too. No variable
// of the environment sets them, since a restore changes an installation.
type RestoreOptions struct {
	Name    string `arg:"" optional:"" help:"Name of the backup; the last one by default."`
	Replace bool   `env:"-" help:"Delete everything in the database first. No server may be running."`

	SkipDamaged bool `env:"-" help:"Leave out files whose checksum is wrong, instead of restoring nothing."`

	// TakeKey takes the key from this or another backup of the folder. A restore into an installation without a key always takes it.
	TakeKey bool `env:"-" name:"with-key" xor:"key" help:"Put the key that a backup holds in place of the installation's, which stays beside it under another name."`
	// NewKey gives the restored database to the key of the next server that starts.
	NewKey bool `env:"-" xor:"key" help:"Keep the installation's key although the backup belongs to another one; docs/running.md lists the consequences."`

	// KeyFingerprint identifies the installation's key, empty if it has none, and PutKey replaces it.
	KeyFingerprint string                 `kong:"-"`
	PutKey         func(key []byte) error `kong:"-"`
}

// Restore restores a backup. The database must be empty (ErrNotEmpty), unless o.Replace is set: then no other session may use it
// (ErrInUse). All checksums are compared before anything is changed; an error names the files that do not match. With
// o.SkipDamaged those files are left out, unless the database, the list of checksums or the manifest is damaged. A backup that
// belongs to another key than the installation's is refused, unless o.TakeKey or o.NewKey is set. Files in the file store stay.
// Missing files are written before the database, so that no row refers to a missing file. If filling a replaced database fails,
// it stays empty, and the same restore may be repeated. The errors name the next step.
func (s Store) Restore(ctx context.Context, o RestoreOptions) (*Manifest, error) {
	unlock, err := s.lock()
	if err != nil {
		return nil, err
	}
	defer unlock()
	m, err := s.find(o.Name)
	if err != nil {
		return nil, err
	}
	damaged, err := s.verify(ctx, m, make(map[string]string))
	if err != nil {
		return nil, err
	}
	vital := func(d Damage) bool {
		return slices.Contains([]string{databaseFile, checksumsFile, manifestFile}, d.Path)
	}
	if len(damaged) > 0 && (!o.SkipDamaged || slices.ContainsFunc(damaged, vital)) {
		return nil, damagedError(m.Name, damaged)
	}
	if err := s.checkReplaceable(ctx, o.Replace); err != nil {
		return nil, err
	}
	forget, err := s.settleKey(m, o)
	if err != nil {
		return nil, err
	}
	if err := s.putFiles(ctx, m, damaged); err != nil {
		return nil, fmt.Errorf("the files of %s: %w", m.Name, err)
	}
	if o.Replace {
		if err := s.execute(ctx, `DROP SCHEMA public CASCADE; CREATE SCHEMA public`); err != nil {
			return nil, err
		}
	}
	// Without a name pg_restore takes the database of the environment.
	err = s.run(ctx, "pg_restore", "--no-owner", "--no-privileges", "--single-transaction", "--exit-on-error", "--dbname=",
		filepath.Join(s.Folder, m.Name, databaseFile))
	if err != nil {
		return nil, fmt.Errorf("the database of %s: %w", m.Name, err)
	}
	if forget { // the next server that starts decides which key it belongs to
		err = s.execute(ctx, "DELETE FROM installation_key")
	}
	return &m, err
}

func (s Store) find(name string) (Manifest, error) {
	all, err := s.List()
	if err != nil {
		return Manifest{}, err
	}
	if len(all) == 0 {
		return Manifest{}, fmt.Errorf("%w: %s holds none", ErrNotFound, s.Folder)
	}
	if name == "" {
		return all[len(all)-1], nil
	}
	if i := slices.IndexFunc(all, func(m Manifest) bool { return m.Name == name }); i >= 0 {
		return all[i], nil
	}
	return Manifest{}, fmt.Errorf("%w in %s: %q", ErrNotFound, s.Folder, name)
}

// checkReplaceable returns ErrNotEmpty or ErrInUse if the restore must stop.
func (s Store) checkReplaceable(ctx context.Context, replace bool) error {
	query, refusal, attempts := `SELECT count(*) FROM pg_class
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v', 'm', 'S')`, ErrNotEmpty, 0
	if replace {
		query, refusal, attempts = `SELECT count(*) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'`, ErrInUse, 10
	}
	for {
		var n int
		if err := s.query(ctx, query, &n); err != nil || n == 0 {
			return err
		}
		if attempts--; attempts < 0 {
			return refusal
		}
		time.Sleep(100 * time.Millisecond) // a session may be just about to end
	}
}

// putFiles writes the files of a backup into the file store, except existing and damaged files.
func (s Store) putFiles(ctx context.Context, m Manifest, damaged []Damage) error {
	sums, err := s.checksumsOf(m)
	if err != nil {
		return err
	}
	for _, d := range damaged {
		delete(sums, d.Path)
	}
	for name, sum := range sums {
		if key, isFile := strings.CutPrefix(name, filesFolder+"/"); isFile {
			if err := s.putFile(ctx, key, s.path(m, name, sum)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s Store) putFile(ctx context.Context, key, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	defer s.progress(info.Size())
	if there, err := s.Files.Attributes(ctx, key); err == nil && there.Size == info.Size() {
		return nil
	}
	return s.Files.Upload(ctx, key, f, &blob.WriterOptions{ContentType: "application/octet-stream"})
}

// settleKey compares the installation's key with the backup's before a restore changes anything. If they differ, it takes the
// backup's key or returns an error that names the next step. forget is true if the restored database must belong to no key.
func (s Store) settleKey(m Manifest, o RestoreOptions) (forget bool, err error) {
	if m.KeyFingerprint == o.KeyFingerprint {
		return false, nil
	}
	holder, err := s.keyHolder(m)
	switch {
	case err != nil:
		return false, err
	case o.TakeKey && holder == "":
		return false, fmt.Errorf("%s: no backup in this folder holds the key that it belongs to (they were made without --with-key)", m.Name)
	case m.KeyFingerprint == "": // an earlier version made it
		return false, nil
	case o.NewKey:
		return true, nil
	case o.TakeKey, o.KeyFingerprint == "" && holder != "":
		key, err := s.readKey(holder, m.KeyFingerprint)
		if err != nil {
			return false, err
		}
		return false, o.PutKey(key)
	default:
		advice := "put that key there (secret.key of the data folder that the backup was made in)"
		if holder != "" {
			advice = "add --with-key to take that key from the backup that holds it"
		}
		return false, fmt.Errorf("%w\nnothing was restored: %s, or add --new-key to go on without it",
			otherKeyError(m.KeyFingerprint, o.KeyFingerprint), advice)
	}
}

// keyHolder returns the name of a backup that holds the key of m, preferably m itself; "" if none does.
func (s Store) keyHolder(m Manifest) (string, error) {
	all, err := s.List()
	if err != nil || m.KeyFingerprint == "" {
		return "", err
	}
	for _, other := range append([]Manifest{m}, all...) {
		if other.HasKey && other.KeyFingerprint == m.KeyFingerprint {
			return other.Name, nil
		}
	}
	return "", nil
}

// readKey returns the key that a backup holds, if it has that fingerprint.
func (s Store) readKey(name, fingerprint string) ([]byte, error) {
	path := filepath.Join(s.Folder, name, keyFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || secrets.Fingerprint(key) != fingerprint {
		return nil, fmt.Errorf("%s is damaged: it is not the key %s", path, fingerprint)
	}
	return key, nil
}
