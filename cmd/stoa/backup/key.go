package backup

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"stoa/cmd/stoa/installation"
)

// ErrNoKey says that there is no backup from which a restore could take the key.
var ErrNoKey = errors.New("no backup in this folder holds the key that it belongs to (they were made without --with-key)")

// OtherKeyError says that a database, or a backup of one, belongs to another key than the installation's. Fields are
// fingerprints.
type OtherKeyError struct {
	// Wanted is the key that the database belongs to, Found the installation's; empty if it has none.
	Wanted, Found string
	// Held is true if a backup in the folder holds the wanted key.
	Held bool
}

// Error says what another key would break.
func (e *OtherKeyError) Error() string {
	found := "and the installation's is " + e.Found
	if e.Found == "" {
		found = "and the installation has none"
	}
	return fmt.Sprintf("the database belongs to the key %s, %s; %s", e.Wanted, found, installation.Consequences)
}

// writeKey notes in the manifest which key the database belongs to, and puts that key into the folder of a backup if it is set.
func (s Store) writeKey(ctx context.Context, folder string, m *Manifest, sums checksums) (err error) {
	if m.KeyFingerprint, err = s.keyFingerprint(ctx); err != nil || s.Key == nil {
		return err
	}
	own := installation.Fingerprint(s.Key)
	if m.KeyFingerprint != "" && m.KeyFingerprint != own {
		return &OtherKeyError{Wanted: m.KeyFingerprint, Found: own}
	}
	path := filepath.Join(folder, keyFile)
	if err := os.WriteFile(path, []byte(base64.StdEncoding.EncodeToString(s.Key)+"\n"), 0o600); err != nil {
		return err
	}
	m.KeyFingerprint, m.HasKey = own, true
	_, sums[keyFile], err = digest(path)
	return err
}

func (s Store) keyFingerprint(ctx context.Context) (found string, err error) {
	err = s.withPool(func(pool *sql.DB) error {
		found, err = installation.Recorded(ctx, pool)
		return err
	})
	return found, err
}

// settleKey decides what a restore does about the installation's key, before it changes anything: it goes on if the key is the
// backup's, takes the key of the backup, or returns *OtherKeyError. forget says that the restored database must belong to no key.
func (s Store) settleKey(m Manifest, o RestoreOptions) (forget bool, err error) {
	if m.KeyFingerprint == o.KeyFingerprint {
		return false, nil
	}
	holder, err := s.keyHolder(m)
	switch {
	case err != nil:
		return false, err
	case o.TakeKey && holder == "":
		return false, fmt.Errorf("%s: %w", m.Name, ErrNoKey)
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
		return false, &OtherKeyError{Wanted: m.KeyFingerprint, Found: o.KeyFingerprint, Held: holder != ""}
	}
}

// keyHolder returns the name of a backup that holds the key to which a backup belongs, itself first; "" if none does.
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
	if err != nil || installation.Fingerprint(key) != fingerprint {
		return nil, fmt.Errorf("%s is damaged: it is not the key %s", path, fingerprint)
	}
	return key, nil
}

// forgetKey makes the restored database belong to no key: the next server that starts decides.
func (s Store) forgetKey(ctx context.Context) error {
	return s.withPool(func(pool *sql.DB) error { return installation.Forget(ctx, pool) })
}
