package cluster

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/lib/pq"
)

// passwordFile is in the data folder, mode 0600. It holds one line in the format of libpq's password file, which lib/pq and pgx
// read as well (parameter passfile), so that URL contains no secret.
const passwordFile = "postgres.pgpass"

const passwordPrefix = "*:*:*:" + role + ":"

func (c *Cluster) passwordPath() string { return filepath.Join(c.data, passwordFile) }

// loadPassword reads the role's password, or makes one where the file is missing. Whether the database knows it is
// decided by pg_hba.conf (see passwordIsSet). The caller holds the start lock.
func (c *Cluster) loadPassword() error {
	kept, err := os.ReadFile(c.passwordPath())
	if errors.Is(err, fs.ErrNotExist) {
		return c.makePassword()
	}
	if err != nil {
		return err
	}
	password, ok := strings.CutPrefix(strings.TrimSpace(string(kept)), passwordPrefix)
	if !ok || password == "" || strings.ContainsAny(password, "\n\\:'") {
		return fmt.Errorf("%s is damaged: remove it, and the next start of the database makes another", c.passwordPath())
	}
	c.password = password
	return nil
}

// makePassword writes the file in one step, for the account that runs the database: a server started as that account reads it
// too.
func (c *Cluster) makePassword() error {
	root, err := os.OpenRoot(c.data)
	if err != nil {
		return err
	}
	defer root.Close()
	password := rand.Text()
	if err := c.replace(root, passwordFile, passwordPrefix+password+"\n"); err != nil {
		return err
	}
	c.password, c.passwordMade = password, true
	return syncFolder(c.data)
}

// hbaText is the text of pg_hba.conf.
func (c Config) hbaText() string {
	database, user := role, role
	if c.TestRole {
		database, user = "all", "all"
	}
	return fmt.Sprintf("# Written by stoa at each start. The password is in %s in the data folder.\nlocal %s %s scram-sha-256\n",
		passwordFile, database, user)
}

// passwordIsSet reports whether the role of an initialised cluster has the password of the file. Clusters made by versions that
// used no password have another pg_hba.conf, which is replaced only after the role got its password.
func (c *Cluster) passwordIsSet() (bool, error) {
	written, err := os.ReadFile(filepath.Join(c.folder, hbaFile))
	if err != nil {
		return false, err
	}
	return !c.passwordMade && string(written) == c.config.hbaText(), nil
}

func (c *Cluster) setPassword() string {
	return fmt.Sprintf("ALTER ROLE %s PASSWORD '%s'", role, c.password)
}

// setPasswordOffline gives the role its password while no database runs on the folder, whose flock is held.
func (c *Cluster) setPasswordOffline(ctx context.Context, dir *os.File) error {
	if set, err := c.passwordIsSet(); set || err != nil {
		return err
	}
	if err := c.asSuperuser(ctx, dir, c.setPassword()+";\n"); err != nil {
		return fmt.Errorf("set the database's password: %w", err)
	}
	return c.requirePassword()
}

// setPasswordOnline does the same on a running database that an older version left behind, which lets the role in without one.
func (c *Cluster) setPasswordOnline(ctx context.Context, pid int) error {
	if set, err := c.passwordIsSet(); set || err != nil {
		return err
	}
	connector, err := pq.NewConnector(c.socket.url(""))
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	if _, err := db.ExecContext(ctx, c.setPassword()); err != nil {
		return fmt.Errorf("set the database's password (stop every server that uses %s, and the next start sets it): %w", c.folder, err)
	}
	if err := c.requirePassword(); err != nil {
		return err
	}
	return syscall.Kill(pid, syscall.SIGHUP) // it reads pg_hba.conf again
}

// requirePassword writes pg_hba.conf, the last step of setting a password.
func (c *Cluster) requirePassword() error {
	root, err := os.OpenRoot(c.folder)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := c.replace(root, hbaFile, c.config.hbaText()); err != nil {
		return err
	}
	c.passwordMade = false
	return nil
}
