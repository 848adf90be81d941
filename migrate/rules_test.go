package migrate_test

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"
)

// firstInUse is the first migration of a database that is in use. Earlier ones make the tables of an empty database.
const firstInUse = 9

// functionsOf is the migration that was the newest when the functions were last changed, and their hash.
var functionsOf = struct{ migration, hash string }{"0061", "382fc0ee8f2b3c59"}

// Servers of an older version leave the functions of a newer one alone. They know it by the number of its newest migration.
func TestChangedFunctionsHaveANumber(t *testing.T) {
	t.Parallel()
	sum := sha256.New()
	functions := texts(t, "functions/*.sql")
	for _, name := range slices.Sorted(maps.Keys(functions)) {
		sum.Write([]byte(functions[name]))
	}
	hash := hex.EncodeToString(sum.Sum(nil))[:16]
	require.Equal(t, functionsOf.hash, hash, `the functions have changed: where migration %s is released already, write the next one
(it may be empty); then note its number and %s in functionsOf`, functionsOf.migration, hash)
	names, err := filepath.Glob("sql/" + functionsOf.migration + "_*.sql")
	require.NoError(t, err)
	require.Len(t, names, 1)
}

// blocking maps statements that block a table for as long as it is large to their replacement.
var blocking = []struct {
	statement *regexp.Regexp
	instead   string
}{
	{regexp.MustCompile(`(?i)\bCREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?\w+ ON (\w+)`), "CREATE INDEX CONCURRENTLY, in a file with NO TRANSACTION"},
	{regexp.MustCompile(`\bDROP INDEX (?:IF EXISTS )?([a-z]\w*)`), "DROP INDEX CONCURRENTLY"},
	{regexp.MustCompile(`(?i)\bALTER TABLE (\w+)[^;]*\bADD CONSTRAINT[^;]*\)\s*[,;]`), "NOT VALID, and VALIDATE CONSTRAINT in the next file"},
	{regexp.MustCompile(`(?i)\bALTER TABLE (\w+)[^;]*\bSET NOT NULL`), "a check that is NOT VALID, and VALIDATE CONSTRAINT in the next file"},
	{regexp.MustCompile(`(?i)\bALTER TABLE (\w+)[^;]*\bTYPE\b`), "a new column"},
	{regexp.MustCompile(`(?i)\bALTER TABLE (\w+)[^;]*\b(?:DROP COLUMN|RENAME)\b`), "nothing, until no version that reads it runs any more"},
	{regexp.MustCompile(`(?im)^(?:UPDATE|DELETE FROM) (\w+)`), "batches, each committed, in a file with NO TRANSACTION"},
	{regexp.MustCompile(`(?i)\bLOCK TABLE (\w+)`), "nothing"},
}

var createTable = regexp.MustCompile(`(?i)\bCREATE (?:UNLOGGED )?TABLE (?:IF NOT EXISTS )?(\w+)`)

// A migration neither blocks a table for its users nor waits long for it.
func TestMigrationsOfTablesInUse(t *testing.T) {
	t.Parallel()
	for name, text := range texts(t, "sql/*.sql") {
		number, err := goose.NumericComponent(name)
		require.NoError(t, err)
		if number < firstInUse {
			continue
		}
		up, _, _ := strings.Cut(text, "-- +goose Down")
		if !strings.Contains(up, "NO TRANSACTION") {
			require.Contains(t, up, "SET LOCAL lock_timeout = '1s';", name)
		}
		made := map[string]bool{}
		for _, table := range createTable.FindAllStringSubmatch(up, -1) {
			made[table[1]] = true
		}
		for _, b := range blocking {
			for _, found := range b.statement.FindAllStringSubmatch(up, -1) {
				require.True(t, made[found[1]], "%s: %s\nInstead: %s.", name, found[0], b.instead)
			}
		}
	}
}

// texts are the files of a pattern by name.
func texts(t *testing.T, pattern string) map[string]string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, names, pattern)
	all := make(map[string]string, len(names))
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		all[name] = string(text)
	}
	return all
}
