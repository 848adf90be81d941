// Package secrets hides secrets in environment variables from other processes.
//
// /proc/<pid>/environ shows the environment that a process started with, whatever it unsets later, to root and to the same
// user. Hide overwrites the secrets in it; Go has copied the environment by then. Forget removes them from the copy, so that no
// child gets them.
package secrets

/*
#include <string.h>
#include <stdlib.h>

extern char **environ;

static void hide(const char *name)
{
	size_t length = strlen(name);

	for (char **entry = environ; entry && *entry; entry++)
		if (!strncmp(*entry, name, length) && (*entry)[length] == '=')
			explicit_bzero(*entry + length + 1, strlen(*entry + length + 1));
}
*/
import "C"

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
	"unsafe"

	"github.com/lib/pq"
	"github.com/lib/pq/pqerror"
)

// Consequences names the data that another key makes void.
const Consequences = "with another key, codes and links that were mailed are void, and so are the secret of every webhook and" +
	" the key by which the server signs: receivers refuse the server's deliveries until they have fetched the new ones"

// The table installation_key holds the fingerprint of the installation's key, as the database's first server had it. Codes,
// links, the secrets of webhooks and the server's signing key are derived from the key, so a server with another key would
// silently change all of them.

// Fingerprint identifies a key and reveals nothing about it. It has the form of an agent's fingerprint.
func Fingerprint(key []byte) string {
	sum := sha256.Sum256(append([]byte("stoa installation key\n"), key...))
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// Recorded returns the fingerprint of the key in the database, or "" if no server of a version with fingerprints has started on
// it yet.
func Recorded(ctx context.Context, pool *sql.DB) (string, error) {
	var found string
	err := pool.QueryRowContext(ctx, "SELECT fingerprint FROM installation_key").Scan(&found)
	if errors.Is(err, sql.ErrNoRows) || pq.As(err, pqerror.UndefinedTable) != nil {
		return "", nil //nolint:nilerr // no server has recorded one
	}
	return found, err
}

// Record writes a fingerprint unless the database has one, and returns the recorded one. If several servers start on a new
// database at once, the first one decides.
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

// FileSuffix is the suffix of a variable that names a file with the value of another variable.
const FileSuffix = "_FILE"

// FileVariables returns the variables that name a file with a secret, one for each variable that may hold a secret.
func FileVariables() []string {
	names := make([]string, len(variables))
	for i, v := range variables {
		names[i] = v.name + FileSuffix
	}
	return names
}

// maxFile is the maximum size of a file in bytes.
const maxFile = 16 << 10

// ReadFiles sets the variables of secrets from the files that FileVariables name, as containers provide secrets. Line ends at the
// end of a file do not count. It returns an error if a variable and its file are both set, and if a file is empty or cannot be
// read: a server without its setting would start with another database. Call it before the settings are read.
func ReadFiles() error {
	for _, named := range FileVariables() {
		name, path := strings.TrimSuffix(named, FileSuffix), os.Getenv(named)
		if path == "" {
			continue
		}
		if os.Getenv(name) != "" {
			return fmt.Errorf("%s and %s are both set; unset one", name, named)
		}
		value, err := ReadFile(path)
		if err != nil {
			return fmt.Errorf("%s: %w", named, err)
		}
		if err := os.Setenv(name, value); err != nil {
			return fmt.Errorf("%s: %w", named, err)
		}
	}
	return nil
}

// ReadFile returns the secret of a file: one line, of at most 16 KiB, without its line end.
func ReadFile(path string) (string, error) {
	file, err := os.Open(path)
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

// variable is an environment variable that may hold a secret.
type variable struct {
	name string
	// keep is true if the program reads it again later, for every new connection or backup.
	keep bool
}

var variables = []variable{
	{name: "STOA_OPERATOR_TOKEN"},
	{name: "STOA_DATABASE_URL"},
	{name: "STOA_DATABASE_DIRECT_URL"},
	{name: "STOA_DATABASE_REPLICA_URL"},
	{name: "STOA_FILES_URL"},
	{name: "STOA_SMTP_URL"},
	{name: "AWS_ACCESS_KEY_ID"},
	{name: "AWS_SECRET_ACCESS_KEY"},
	{name: "AWS_SESSION_TOKEN"},
	{name: "OTEL_EXPORTER_OTLP_HEADERS"},
	{name: "OTEL_EXPORTER_OTLP_TRACES_HEADERS"},
	{name: "PGPASSWORD", keep: true},
}

// Hide overwrites the secrets in /proc/<pid>/environ. os.Getenv still returns them. Call it first in main.
func Hide() {
	for _, v := range variables {
		name := C.CString(v.name)
		C.hide(name)
		C.free(unsafe.Pointer(name))
	}
}

// Forget unsets the secrets. Call it once all settings are read.
func Forget() {
	for _, v := range variables {
		if !v.keep {
			_ = os.Unsetenv(v.name) // fails only for names that cannot be set
		}
	}
}
