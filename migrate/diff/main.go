// Command diff prints the SQL that would bring the database of STOA_DATABASE_URL to the schema of ent/schema. The database has
// all migrations applied when `make migration` and `make verify` run it: the first writes a new migration from the output, the
// second fails if there is any output.
package main

import (
	"context"
	"database/sql"
	"log"
	"os"

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

// unchanged is a default as PostgreSQL spells it. ent would put a schema.Expr into parentheses.
type unchanged string

// handwritten parts of migrations are ignored: ent/schema has no CHECK constraints, and not all columns and indexes.
const handwritten = schema.DropCheck | schema.DropColumn | schema.DropIndex

func run(ctx context.Context) error {
	database, err := sql.Open("postgres", os.Getenv("STOA_DATABASE_URL"))
	if err != nil {
		return err
	}
	defer database.Close()
	for _, table := range migrate.Tables {
		for _, column := range table.Columns {
			if expression, ok := column.Default.(schema.Expr); ok {
				column.Default = unchanged(expression)
			}
		}
	}
	driver := &schema.WriteDriver{Driver: entsql.OpenDB(dialect.Postgres, database), Writer: os.Stdout}
	return migrate.Create(ctx, migrate.NewSchema(driver), migrate.Tables, schema.WithSkipChanges(handwritten))
}
