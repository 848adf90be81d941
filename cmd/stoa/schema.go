package main

import (
	"context"
	"database/sql"
	"errors"
	"sync/atomic"
	"time"

	"stoa/migrate"
	"stoa/rest"
)

// schemaKnown is how long a schema that was found current is believed to be, because anybody may ask /readyz.
const schemaKnown = 2 * time.Second

var errOldSchema = errors.New("migrations are missing")

// schemaOf checks that every migration of this binary is applied. Where the database does not answer, the schema is what it was:
// the check of the database tells that.
func schemaOf(database *sql.DB) rest.Check {
	var current atomic.Pointer[time.Time] // when it was found so; nil for not
	return func(ctx context.Context) error {
		seen := current.Load()
		if seen != nil && time.Since(*seen) < schemaKnown {
			return nil
		}
		done, err := migrate.Current(ctx, database)
		switch {
		case err != nil && seen != nil:
			return nil
		case err == nil && !done:
			current.Store(nil)
			return errOldSchema
		case err == nil:
			now := time.Now()
			current.Store(&now)
		}
		return err
	}
}
