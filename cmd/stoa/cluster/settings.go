package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// The files Stoa writes into the cluster. stoa.conf is written at each start of
// the database, so that a newer server brings its settings along; tuning.conf
// is the operator's own and overrides what may be overridden.
const (
	settingsFile = "stoa.conf"
	tuningFile   = "tuning.conf"
	hbaFile      = "pg_hba.conf" // who may log in
)

// setting is one line of the configuration.
type setting struct{ name, value string }

// preferred suit a small machine; tuning.conf may override them.
var preferred = []setting{
	{"shared_buffers", "128MB"},
	{"max_connections", "100"},
	{"max_wal_size", "1GB"},
	{"random_page_cost", "1.1"},
	{"jit", "off"},
	{"max_parallel_workers_per_gather", "0"}, // a query of Stoa is short; the other core serves someone else
	{"max_logical_replication_workers", "0"}, // one idle process less
	{"huge_pages", "off"},
	{"timezone", "UTC"},
	{"log_timezone", "UTC"},
	{"log_min_messages", "warning"},
	{"log_min_error_statement", "panic"}, // statements and details may hold what must not be logged
	{"log_error_verbosity", "terse"},
	{"log_checkpoints", "off"},
	{"log_line_prefix", "%m [%p] %q%d "},
}

// required hold whatever tuning.conf says: the invariants of the package.
var required = []setting{
	{"listen_addresses", ""},
	{"port", port},
	{"unix_socket_directories", "."},
	{"unix_socket_permissions", "0700"},
	{"logging_collector", "off"},
	{"log_destination", "stderr"},
}

// durable and volatile follow the required ones.
var (
	durable  = []setting{{"fsync", "on"}, {"full_page_writes", "on"}, {"synchronous_commit", "on"}}
	volatile = []setting{{"fsync", "off"}, {"full_page_writes", "off"}, {"synchronous_commit", "off"}}
	// forTests: no database of a test lives long enough to be vacuumed.
	forTests = []setting{{"max_connections", "400"}, {"autovacuum", "off"}}
)

// settings is the text of stoa.conf. name appears in the title of every process
// of the cluster but the postmaster.
func (c Config) settings(name string) string {
	var b strings.Builder
	write := func(list ...setting) {
		for _, s := range list {
			fmt.Fprintf(&b, "%s = '%s'\n", s.name, s.value)
		}
	}
	b.WriteString("# Written by stoa at each start. Your own settings belong into " + tuningFile + ".\n")
	write(preferred...)
	if c.TestRole {
		write(forTests...)
	}
	fmt.Fprintf(&b, "include_if_exists = '%s'\n", tuningFile)
	write(required...)
	if c.Volatile {
		write(volatile...)
	} else {
		write(durable...)
	}
	write(setting{"cluster_name", name})
	return b.String()
}

// writeSettings writes stoa.conf into the folder and, for one just initialised,
// everything else. The folder is another account's: nothing is followed out of it.
func (c *Cluster) writeSettings(folder string, fresh bool) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	name, err := nameOf(folder)
	if err != nil {
		return err
	}
	if err := c.replace(root, settingsFile, c.config.settings(name)); err != nil || !fresh {
		return err
	}
	if err := c.replace(root, hbaFile, c.config.hbaText()); err != nil {
		return err
	}
	if err := c.replace(root, tuningFile, "# Your own settings. They count from the next start of the database.\n"); err != nil {
		return err
	}
	f, err := root.OpenFile("postgresql.conf", os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(f, "\ninclude = '%s'\n", settingsFile)
	return errors.Join(err, f.Close())
}

// replace puts a file of the account's in place in one step.
func (c *Cluster) replace(root *os.Root, name, text string) error {
	temporary := name + ".new"
	if err := root.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, c.account.chown(f), f.Close()); err != nil {
		return err
	}
	return root.Rename(temporary, name)
}

// nameOf is the cluster's name: short, the same wherever the folder is moved,
// and like no other's on this machine.
func nameOf(folder string) (string, error) {
	var stat unix.Stat_t
	if err := unix.Stat(filepath.Clean(folder), &stat); err != nil {
		return "", fmt.Errorf("%s: %w", folder, err)
	}
	return fmt.Sprintf("stoa-%x-%x", stat.Dev, stat.Ino), nil
}
