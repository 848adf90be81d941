package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	unfinished = "postgres.new-" // prefix of a cluster that is being initialised
	superuser  = "postgres"      // owns the system catalogues; cannot log in
	role       = "stoa"          // role and database
)

// locales in order of preference. Both sort by code point; C knows the case of
// ASCII letters only.
var locales = []string{"C.UTF-8", "C"}

// initialise makes the cluster if it does not exist. It is built beside its place and renamed when complete, so that an
// interruption at any moment leaves nothing that could be taken for a cluster. Leftovers of earlier ones go.
func (c *Cluster) initialise(ctx context.Context) error {
	leftovers, _ := filepath.Glob(filepath.Join(escapeGlob(c.data), unfinished+"*")) // the pattern is well formed
	for _, leftover := range leftovers {
		if err := os.RemoveAll(leftover); err != nil {
			c.log.Warn("cannot remove an unfinished cluster", "folder", leftover, "error", err)
		}
	}
	if majorOf(c.folder) != 0 {
		return nil
	}
	c.log.Info("initialising the database, which takes some seconds", "folder", c.folder)
	var err error
	for _, locale := range locales {
		if err = c.build(ctx, locale); err == nil || ctx.Err() != nil || !strings.Contains(err.Error(), "locale") {
			break
		}
		c.log.Warn("this machine does not know the locale", "locale", locale)
	}
	if err != nil {
		return fmt.Errorf("initialise %s: %w", c.folder, err)
	}
	c.log.Info("database initialised", "folder", c.folder, "version", c.programs.major)
	return nil
}

func (c *Cluster) build(ctx context.Context, locale string) (err error) {
	path, err := os.MkdirTemp(c.data, unfinished+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}()
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := c.account.chown(dir); err != nil {
		return err
	}
	if err := runToEnd(ctx, c.command(ctx, dir, "initdb", c.initdbArgs(locale)...)); err != nil {
		return err
	}
	if err := c.writeSettings(path, true); err != nil {
		return err
	}
	if err := c.createRole(ctx, dir); err != nil {
		return err
	}
	if err := os.Rename(path, c.folder); err != nil {
		return err
	}
	return syncFolder(c.data)
}

func (c *Cluster) initdbArgs(locale string) []string {
	args := []string{
		"-D", folderInChild, "--username=" + superuser, "--auth=reject", "--encoding=UTF8", "--locale=" + locale,
		"--data-checksums", "--no-instructions",
	}
	if c.config.Volatile {
		args = append(args, "--no-sync")
	}
	return args
}

// createRole makes role and database.
func (c *Cluster) createRole(ctx context.Context, dir *os.File) error {
	options := "LOGIN PASSWORD '" + c.password + "'"
	if c.config.TestRole {
		options += " SUPERUSER"
	}
	err := c.asSuperuser(ctx, dir, fmt.Sprintf("CREATE ROLE %[1]s %[2]s;\nCREATE DATABASE %[1]s OWNER %[1]s;\n", role, options))
	if err == nil {
		c.passwordMade = false
	}
	return err
}

// asSuperuser runs statements, one a line, in single-user mode, because the superuser cannot log in. They go through standard
// input, since anyone may read a process's arguments.
func (c *Cluster) asSuperuser(ctx context.Context, dir *os.File, statements string) error {
	cmd := c.command(ctx, dir, "postgres", "--single", "-D", folderInChild, "-c", "exit_on_error=on", "postgres")
	cmd.Stdin = strings.NewReader(statements)
	return runToEnd(ctx, cmd)
}

func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}
