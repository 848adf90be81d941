package secrets

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/lib/pq"
)

// Consequences names the data that another key makes void.
const Consequences = "with another key, codes and links that were mailed are void, and so are the secret of every webhook and" +
	" the key by which the server signs: receivers refuse the server's deliveries until they have fetched the new ones"

// undefinedTable is PostgreSQL's error code for a table that does not exist.
const undefinedTable = "42P01"

// The table installation_key holds the fingerprint of the installation's key that the database's first server had. Codes, links,
// the secrets of webhooks and the server's signing key are derived from the key, so a server with another key would silently
// change all of them.

// Fingerprint identifies a key and says nothing about it. It has the form of an agent's fingerprint.
func Fingerprint(key []byte) string {
	sum := sha256.Sum256(append([]byte("stoa installation key\n"), key...))
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// Recorded returns the fingerprint of the key in the database, or "" if no server of a version with fingerprints has started on
// it yet.
func Recorded(ctx context.Context, pool *sql.DB) (string, error) {
	var found string
	err := pool.QueryRowContext(ctx, "SELECT fingerprint FROM installation_key").Scan(&found)
	if refused, ok := errors.AsType[*pq.Error](err); errors.Is(err, sql.ErrNoRows) || (ok && refused.Code == undefinedTable) {
		return "", nil
	}
	return found, err
}

// Record writes a fingerprint unless the database has one, and returns the one that it has then. Of several servers that start on
// a new database at once, the first one decides.
func Record(ctx context.Context, pool *sql.DB, fingerprint string) (string, error) {
	_, err := pool.ExecContext(ctx, "INSERT INTO installation_key (fingerprint) VALUES ($1) ON CONFLICT DO NOTHING", fingerprint)
	if err != nil {
		return "", err
	}
	return Recorded(ctx, pool)
}

// Replace writes a fingerprint, whatever the database has.
func Replace(ctx context.Context, pool *sql.DB, fingerprint string) error {
	_, err := pool.ExecContext(ctx, `INSERT INTO installation_key (fingerprint) VALUES ($1)
		ON CONFLICT (id) DO UPDATE SET fingerprint = EXCLUDED.fingerprint, recorded_at = now()`, fingerprint)
	return err
}

// ForgetKey removes the fingerprint: the next server that starts records the fingerprint of its key.
func ForgetKey(ctx context.Context, pool *sql.DB) error {
	_, err := pool.ExecContext(ctx, "DELETE FROM installation_key")
	return err
}

// fileSuffix ends the variable that names the file of another one.
const fileSuffix = "_FILE"

// FileVariables returns the variables that name a file of a secret, one for each variable that may hold one.
func FileVariables() []string {
	names := make([]string, len(variables))
	for i, v := range variables {
		names[i] = v.name + fileSuffix
	}
	return names
}

// maxFile is the longest secret of a file in bytes.
const maxFile = 16 << 10

// ReadFiles sets the variables of secrets from the files that FileVariables name, as containers hand secrets over. Line ends at the end
// of a file do not count. A variable that is set too, and a file that cannot be read or holds nothing, are errors:
// a server without its setting would start with another database. Call it before the settings are read.
func ReadFiles() error {
	for _, named := range FileVariables() {
		name, path := strings.TrimSuffix(named, fileSuffix), os.Getenv(named)
		if path == "" {
			continue
		}
		if os.Getenv(name) != "" {
			return fmt.Errorf("%s and %s are both set; unset one", name, named)
		}
		value, err := readFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", named, err)
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("%s: %w", named, err)
		}
	}
	return nil
}

// Other returns the other variable of the same setting: NAME_FILE for NAME, and NAME for NAME_FILE.
func Other(name string) string {
	if without, isFile := strings.CutSuffix(name, fileSuffix); isFile {
		return without
	}
	return name + fileSuffix
}

func readFile(path string) (string, error) {
	file, err := os.Open(path) //nolint:gosec // the one who sets the variables may read every file of this account
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return "", err
	}
	value := strings.TrimRight(string(text), "\r\n")
	switch {
	case value == "":
		return "", fmt.Errorf("%s is empty", path)
	case len(text) > maxFile:
		return "", fmt.Errorf("%s holds more than %d bytes", path, maxFile)
	case strings.ContainsAny(value, "\r\n\x00"):
		return "", fmt.Errorf("%s holds more than one line", path)
	}
	return value, nil
}
