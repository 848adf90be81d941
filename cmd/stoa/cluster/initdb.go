package cluster

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	unfinished = "postgres.new-" // prefix of a cluster that is being initialised
	superuser  = "postgres"      // owns the system catalogues; cannot log in
	role       = "stoa"          // role and database

	settingsFile = "stoa.conf"   // written at each start, so that a newer server brings its settings along
	tuningFile   = "tuning.conf" // the operator's own; overrides the settings that may change
	hbaFile      = "pg_hba.conf" // who may log in

	// passwordFile is in the data folder, mode 0600. It holds one line in the format of libpq's password file, which lib/pq and pgx
	// read as well (parameter passfile), so that URL contains no secret.
	passwordFile = "postgres.pgpass"
)

// initialise makes the cluster if it does not exist. It is built beside its place and renamed when complete, so that an
// interruption at any moment leaves nothing that could be taken for a cluster. Leftovers of earlier ones go.
func (c *Cluster) initialise(ctx context.Context) error {
	escaped := strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(c.data)
	leftovers, _ := filepath.Glob(filepath.Join(escaped, unfinished+"*")) // the pattern is well formed
	for _, leftover := range leftovers {
		if err := os.RemoveAll(leftover); err != nil {
			c.log.Warn("cannot remove an unfinished cluster", "folder", leftover, "error", err)
		}
	}
	if majorOf(c.folder) != 0 {
		return nil
	}
	c.log.Info("initialising the database, which takes some seconds", "folder", c.folder)
	if err := c.build(ctx); err != nil {
		return fmt.Errorf("initialise %s: %w", c.folder, err)
	}
	c.log.Info("database initialised", "folder", c.folder, "version", c.programs.major)
	return nil
}

func (c *Cluster) build(ctx context.Context) (err error) {
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
	if err := chown(dir, c.account); err != nil {
		return err
	}
	args := []string{
		"-D", folderInChild, "--username=" + superuser, "--auth=reject", "--encoding=UTF8", "--locale=C.UTF-8",
		"--data-checksums", "--no-instructions",
	}
	if c.config.Volatile {
		args = append(args, "--no-sync")
	}
	if err := run(ctx, c.command(ctx, dir, "initdb", args...)); err != nil {
		return err
	}
	for name, text := range map[string]string{
		"postgresql.conf": "include = '" + settingsFile + "'\n", settingsFile: c.config.settings(), hbaFile: c.config.hbaText(),
		tuningFile: "# Your own settings. They count from the next start of the database.\n",
	} {
		if err := c.replace(path, name, text); err != nil {
			return err
		}
	}
	options, password := "LOGIN", rand.Text()
	if c.config.TestRole {
		options = "LOGIN SUPERUSER"
	}
	const roleAndDatabase = "CREATE ROLE %[1]s %[2]s PASSWORD '%[3]s';\nCREATE DATABASE %[1]s OWNER %[1]s;\n"
	statements := fmt.Sprintf(roleAndDatabase, role, options, password)
	if err := c.asSuperuser(ctx, dir, statements); err != nil {
		return err
	}
	if err := c.replace(c.data, passwordFile, passwordLine(password)); err != nil {
		return err
	}
	if err := os.Rename(path, c.folder); err != nil {
		return err
	}
	parent, err := os.Open(c.data)
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// asSuperuser runs statements, one a line, in single-user mode, because the superuser cannot log in. They go through standard
// input, since anyone may read a process's arguments.
func (c *Cluster) asSuperuser(ctx context.Context, dir *os.File, statements string) error {
	cmd := c.command(ctx, dir, "postgres", "--single", "-D", folderInChild, "-c", "exit_on_error=on", "postgres")
	cmd.Stdin = strings.NewReader(statements)
	return run(ctx, cmd)
}

func (c *Cluster) passwordPath() string { return filepath.Join(c.data, passwordFile) }

func passwordLine(password string) string { return "*:*:*:" + role + ":" + password + "\n" }

// restorePassword gives the role a new password if the file with its password is lost, or if a version without passwords made the
// cluster. No database runs on the folder, whose flock is held. The file comes last, so an interrupted change is repeated.
func (c *Cluster) restorePassword(ctx context.Context, dir *os.File) error {
	if _, err := os.Stat(c.passwordPath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	password := rand.Text()
	if err := c.asSuperuser(ctx, dir, fmt.Sprintf("ALTER ROLE %s PASSWORD '%s';\n", role, password)); err != nil {
		return fmt.Errorf("set the database's password: %w", err)
	}
	if err := c.replace(c.folder, hbaFile, c.config.hbaText()); err != nil {
		return err
	}
	return c.replace(c.data, passwordFile, passwordLine(password))
}

// hbaText is the text of pg_hba.conf.
func (c Config) hbaText() string {
	database, user := role, role
	if c.TestRole {
		database, user = "all", "all"
	}
	return "# Written by stoa. The password is in " + passwordFile + " in the data folder.\nlocal " + database + " " + user + " scram-sha-256\n"
}

//go:embed stoa.conf
var commonSettings string

// settings is the text of stoa.conf.
func (c Config) settings() string {
	text, durable := commonSettings, "on"
	if c.TestRole { // no database of a test lives long enough to be vacuumed
		text += "max_connections = 400\nautovacuum = off\n"
	}
	if c.Volatile {
		durable = "off"
	}
	return text + fmt.Sprintf("fsync = %[1]s\nfull_page_writes = %[1]s\nsynchronous_commit = %[1]s\n", durable)
}

// replace replaces a file of the account in one step. Another account owns the folder, so no link is followed out of it.
func (c *Cluster) replace(folder, name, text string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	temporary := name + ".new"
	if err := root.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, chown(f, c.account), f.Close()); err != nil {
		return err
	}
	return root.Rename(temporary, name)
}
