package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"
)

// migrateCommand does beforehand what serve does when it starts.
type migrateCommand struct {
	databaseSettings
	logSettings
}

const clusterPatience = 10 * time.Second

// Run applies the missing migrations; a private cluster runs only meanwhile.
func (c *migrateCommand) Run(out io.Writer) error {
	log := c.logger(os.Stderr)
	ctx := untilSignal(log)
	address, private, err := c.locate(ctx, log)
	if err != nil {
		return err
	}
	err = migrated(ctx, address, log)
	if private != nil {
		deadline, cancel := context.WithTimeout(context.Background(), clusterPatience)
		defer cancel()
		err = errors.Join(err, private.Stop(deadline))
	}
	if err == nil {
		_, err = fmt.Fprintln(out, "The database is at the schema of this version.")
	}
	return err
}
