package migrate

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/rivermigrate"
)

// Step is one step of Up.
type Step struct {
	// Name is a file of sql/ or functions/, or a version of River's tables.
	Name string
	// Purpose is the first comment of a file of sql/; empty for others.
	Purpose string
	// Locks are the locks that others wait for, one line for each existing table.
	Locks []string
}

// locks lists the statements of migrations that make others wait, the strongest lock first. Each expression captures the table.
var locks = []struct {
	statement *regexp.Regexp
	effect    string
}{
	{regexp.MustCompile(`(?im)^\s*ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+)\s+(?:ADD|ALTER|DROP|RENAME|SET)`), "ACCESS EXCLUSIVE: everybody waits"},
	{regexp.MustCompile(`(?im)^\s*DROP TABLE (?:IF EXISTS )?(\w+)`), "ACCESS EXCLUSIVE: everybody waits"},
	{regexp.MustCompile(`(?im)^\s*DROP TRIGGER (?:IF EXISTS )?\w+ ON (\w+)`), "ACCESS EXCLUSIVE: everybody waits"},
	{regexp.MustCompile(`(?im)^\s*CREATE (?:OR REPLACE )?(?:CONSTRAINT )?TRIGGER .*\bON (\w+)`), "SHARE ROW EXCLUSIVE: writes wait"},
	{regexp.MustCompile(`(?im)\bREFERENCES (\w+)`), "SHARE ROW EXCLUSIVE: writes wait"},
	{regexp.MustCompile(`(?im)^\s*ALTER TABLE (\w+)\s+VALIDATE`), "SHARE UPDATE EXCLUSIVE: nobody waits"},
	{regexp.MustCompile(`(?im)^\s*CREATE (?:UNIQUE )?INDEX CONCURRENTLY .*\bON (\w+)`), "SHARE UPDATE EXCLUSIVE: nobody waits"},
	{regexp.MustCompile(`(?im)^\s*CREATE (?:UNIQUE )?INDEX .*\bON (\w+)`), "SHARE: writes wait until the index is made"},
	{regexp.MustCompile(`(?im)^\s*(?:UPDATE|DELETE FROM|INSERT INTO) (\w+)`), "ROW EXCLUSIVE: writers of the same rows wait"},
}

// bodies are the bodies of functions, whose statements do not run.
var bodies = regexp.MustCompile(`(?s)\bAS \$\$.*?\$\$`)

// Plan lists the steps that Up would take, in that order, and changes nothing.
func Plan(ctx context.Context, database *sql.DB) ([]Step, error) {
	provider, err := newProvider(database)
	if err != nil {
		return nil, err
	}
	applied, err := appliedVersion(ctx, database, provider)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	if applied > newest(provider) {
		return nil, nil
	}
	steps, err := pendingFiles(ctx, database, provider, applied)
	if err != nil {
		return nil, fmt.Errorf("migrate: %w", err)
	}
	changed, err := changedFunctions(ctx, database)
	if err != nil {
		return nil, fmt.Errorf("migrate: functions: %w", err)
	}
	for _, file := range changed {
		step := Step{Name: file.name}
		if step.Locks, err = locksOf(ctx, database, file.text); err != nil {
			return nil, fmt.Errorf("migrate: %s: %w", file.name, err)
		}
		steps = append(steps, step)
	}
	migrator, err := rivermigrate.New(riverdatabasesql.New(database), nil)
	if err != nil {
		return nil, fmt.Errorf("migrate: open river's migrations: %w", err)
	}
	existing, err := migrator.ExistingVersions(ctx)
	if err != nil {
		return nil, fmt.Errorf("migrate: river: %w", err)
	}
	for _, version := range migrator.AllVersions() {
		if !slices.ContainsFunc(existing, func(m rivermigrate.Migration) bool { return m.Version == version.Version }) {
			steps = append(steps, Step{Name: fmt.Sprintf("river %d, %s", version.Version, version.Name)})
		}
	}
	return steps, nil
}

// appliedVersion is the number of the last file of sql/ that was applied, 0 in an empty database. goose's own methods would make
// its table.
func appliedVersion(ctx context.Context, database *sql.DB, provider *goose.Provider) (int64, error) {
	var exists bool
	if err := database.QueryRowContext(ctx, "SELECT to_regclass('goose_db_version') IS NOT NULL").Scan(&exists); err != nil || !exists {
		return 0, err
	}
	return provider.GetDBVersion(ctx)
}

// newest is the number of the last file of sql/.
func newest(provider *goose.Provider) int64 {
	sources := provider.ListSources()
	return sources[len(sources)-1].Version
}

// pendingFiles are the files of sql/ that are not applied.
func pendingFiles(ctx context.Context, database *sql.DB, provider *goose.Provider, applied int64) (steps []Step, err error) {
	for _, source := range provider.ListSources() {
		if source.Version <= applied {
			continue
		}
		text, err := fs.ReadFile(files, path.Join("sql", path.Base(source.Path)))
		if err != nil {
			return nil, err
		}
		purpose, _, _ := strings.Cut(string(text), "\n")
		up, _, _ := strings.Cut(string(text), "-- +goose Down")
		step := Step{Name: "sql/" + path.Base(source.Path), Purpose: strings.TrimPrefix(purpose, "-- ")}
		if step.Locks, err = locksOf(ctx, database, up); err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// locksOf returns the tables of the database that statements lock, each with its strongest lock.
func locksOf(ctx context.Context, database *sql.DB, statements string) (lines []string, err error) {
	statements = bodies.ReplaceAllString(statements, "")
	seen := make(map[string]bool)
	for _, lock := range locks {
		for _, found := range lock.statement.FindAllStringSubmatch(statements, -1) {
			table := found[1]
			if seen[table] {
				continue
			}
			seen[table] = true
			var exists bool
			if err := database.QueryRowContext(ctx, "SELECT to_regclass($1) IS NOT NULL", table).Scan(&exists); err != nil {
				return nil, err
			}
			if exists {
				lines = append(lines, table+" ("+lock.effect+")")
			}
		}
	}
	return lines, nil
}
