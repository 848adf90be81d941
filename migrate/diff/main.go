// Command diff prints the SQL that would bring the database of STOA_DATABASE_URL to the schema of ent/schema. The database has
// all migrations applied when `make migration` and `make verify` run it: the first writes a new migration from the output, the
// second fails if there is any output.
package main

import (
	"context"
	"database/sql"
	"log"
	"os"
	"slices"
	"strings"

	atlas "ariga.io/atlas/sql/schema"
	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"entgo.io/ent/dialect/sql/schema"
	_ "github.com/lib/pq"

	"stoa/ent/migrate"
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	database, err := sql.Open("postgres", os.Getenv("STOA_DATABASE_URL"))
	if err != nil {
		return err
	}
	defer database.Close()
	driver := &schema.WriteDriver{Driver: entsql.OpenDB(dialect.Postgres, database), Writer: os.Stdout}
	return migrate.Create(ctx, migrate.NewSchema(driver), migrate.Tables, schema.WithDiffHook(keepHandwritten))
}

// keepHandwritten ignores handwritten parts of migrations: CHECK constraints, and defaults that PostgreSQL spells its own way.
func keepHandwritten(next schema.Differ) schema.Differ {
	return schema.DiffFunc(func(current, desired *atlas.Schema) ([]atlas.Change, error) {
		changes, err := next.Diff(current, desired)
		if err != nil {
			return nil, err
		}
		return slices.DeleteFunc(changes, func(change atlas.Change) bool {
			table, ok := change.(*atlas.ModifyTable)
			if !ok {
				return false
			}
			table.Changes = slices.DeleteFunc(table.Changes, handwritten)
			return len(table.Changes) == 0
		}), nil
	})
}

func handwritten(change atlas.Change) bool {
	switch change := change.(type) {
	case *atlas.DropCheck:
		return true
	case *atlas.ModifyColumn:
		from, hadDefault := change.From.Default.(*atlas.RawExpr)
		to, hasDefault := change.To.Default.(*atlas.RawExpr)
		return change.Change == atlas.ChangeDefault && hadDefault && hasDefault && strings.Trim(from.X, "()") == strings.Trim(to.X, "()")
	default:
		return false
	}
}
