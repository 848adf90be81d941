package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"

	"stoa/cmd/stoa/installation"
)

// keyCommand is about the key by which codes, links, secrets and signatures are derived (docs/running.md).
type keyCommand struct {
	Show   keyShowCommand   `cmd:"" default:"withargs" help:"Print the fingerprints of the installation's key and of the one that the database belongs to; exits 1 if they differ."`
	Accept keyAcceptCommand `cmd:"" help:"Let the database belong to the installation's key from now on, and make one if there is none."`
}

// keySettings are those of commands that compare the key with the database.
type keySettings struct {
	databaseSettings
	secretSettings
	logSettings
}

// withDatabase calls act with a pool. A private cluster runs only meanwhile.
func (s *keySettings) withDatabase(act func(context.Context, *sql.DB) error) error {
	return s.databaseSettings.withDatabase(s.logger(os.Stderr), func(ctx context.Context, address string) error {
		return usePool(s.directURL(address), func(pool *sql.DB) error { return act(ctx, pool) })
	})
}

type keyShowCommand struct{ keySettings }

// Run prints two lines, and returns an error unless they are the same.
func (c *keyShowCommand) Run(out io.Writer) error {
	return c.withDatabase(func(ctx context.Context, pool *sql.DB) error {
		recorded, err := installation.Recorded(ctx, pool)
		if err != nil {
			return explainDatabaseError(err)
		}
		key, err := c.knownKey(c.DataDir)
		if err != nil {
			return err
		}
		own := ""
		if key != nil {
			own = installation.Fingerprint(key)
		}
		fmt.Fprintf(out, "database  %s\nkey       %s\n", cmp.Or(recorded, "none yet"), cmp.Or(own, "none in "+c.keyPath(c.DataDir)))
		if recorded != "" && recorded != own {
			return errors.New("the database belongs to another key; " + keyAdvice)
		}
		return nil
	})
}

type keyAcceptCommand struct{ keySettings }

// Run records the fingerprint. Servers that run go on with the key that they have read.
func (c *keyAcceptCommand) Run(out io.Writer) error {
	return c.withDatabase(func(ctx context.Context, pool *sql.DB) error {
		key, err := c.readOrMakeKey(c.DataDir)
		if err != nil {
			return err
		}
		own := installation.Fingerprint(key)
		if err := installation.Replace(ctx, pool, own); err != nil {
			return explainDatabaseError(err)
		}
		_, err = fmt.Fprintf(out, "The database belongs to the key %s; start every server again.\n", own)
		return err
	})
}
