// Package cluster runs the private PostgreSQL cluster of a server that was given no STOA_DATABASE_URL (§11).
//
// The data folder holds:
//
//	postgres/             the cluster itself, 0700, owned by the account that runs it
//	postgres.new-*/       a cluster being initialised; renamed to postgres/ when complete
//	postgres.pgpass       the password of the role stoa, 0600, owned by the same account
//	postgres.log, .log.1  the log of the database, bounded in size
//
// Invariants:
//   - postgres/ exists only complete: with the role and the database stoa in it.
//   - The directory postgres/ is locked (flock) by the running database, whose processes inherit the locked descriptor. A free
//     lock proves that none of them is left, whatever a stale postmaster.pid holds.
//   - There is no TCP listener, and the superuser cannot log in. The role stoa logs in through a socket that only the owner of
//     the folder and root can reach, with a password (SCRAM) that is made with the cluster.
//
// PostgreSQL refuses to run as root. Started as root, the package runs it as an unprivileged account, which need not be able to
// traverse the folders above the cluster: the programs are handed the open directory and work on /proc/self/fd/3.
//
// Concurrency: the first process that starts on a data folder runs the database as its child, which ends with it even if it is
// killed. Other processes, such as a backup beside the server, use the database until then.
//
// Failure: a database that dies is not started again. Config.Ended is called, the server ends, and its next start recovers the
// database. Nothing here protects a folder on a network file system or one shared between machines.
package cluster

import (
	"context"
	"crypto/rand"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"stoa/graph/platform/db"
)

// Config holds the settings of a cluster (§11).
type Config struct {
	// DataDir is STOA_DATA_DIR; it is created with mode 0700 if it is missing. An existing folder keeps its mode.
	DataDir string
	// Logger receives starts and stops.
	Logger *slog.Logger
	// Ended is called at most once, from another goroutine, if the database ends before Stop. It may be nil.
	Ended func(error)
	// Volatile gives up durability (fsync, full_page_writes and synchronous_commit off) for speed. For tests only: a crash of the
	// machine destroys the cluster.
	Volatile bool
	// TestRole makes the role a superuser, lets it and every role it creates log in to all databases, and allows more connections
	// at once. For tests only; it counts when the cluster is initialised.
	TestRole bool
}

// Cluster is the database of a data folder, run by this process or by another one. Its methods may be called from any goroutine.
type Cluster struct {
	config Config
	log    *slog.Logger
	data   string // absolute
	folder string // data/postgres
	link   string // leads to folder if its path is not fit for a socket; else empty

	account  *syscall.Credential // runs PostgreSQL; nil for this process's account
	programs programs
	dir      *os.File  // folder, if another process runs the database
	database *database // nil if another process runs it

	stopping, watched chan struct{} // closed by Stop and at the end of watch
	stop              sync.Once
	stopErr           error
}

// ErrNoCluster is returned if a data folder has no cluster.
var ErrNoCluster = errors.New("there is no database")

// Exists returns nil if the data folder has a cluster, ErrNoCluster if it has none, and another error if this account may not
// read it. It creates nothing.
func Exists(dataDir string) error {
	folder, err := filepath.Abs(filepath.Join(dataDir, "postgres"))
	if err != nil {
		return err
	}
	_, err = os.Stat(filepath.Join(folder, "PG_VERSION"))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w in %s", ErrNoCluster, folder)
	}
	return err
}

// Start initialises the cluster unless the data folder has one, starts its database unless another process runs it, and waits
// until it answers. The caller must call Stop. ctx bounds only the start: when it is done, Start ends what it began and returns
// ctx's error. Other errors: ErrNoPrograms, a data folder that cannot be written, belongs to another account or stays locked by
// another process, and the last lines of a PostgreSQL program that failed (§11).
func Start(ctx context.Context, config Config) (*Cluster, error) {
	data, err := filepath.Abs(config.DataDir)
	if err != nil {
		return nil, fmt.Errorf("cluster: data folder: %w", err)
	}
	c := &Cluster{
		config: config, log: config.Logger, data: data, folder: filepath.Join(data, "postgres"),
		stopping: make(chan struct{}), watched: make(chan struct{}),
	}
	if err := c.open(ctx); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	go c.watch()
	return c, nil
}

// Stop shuts the database down if this process runs it, ending open transactions, and waits. If ctx ends first, the database is
// stopped immediately (it recovers at its next start) and an error is returned. Further calls return the same result (§11).
func (c *Cluster) Stop(ctx context.Context) error {
	c.stop.Do(func() {
		close(c.stopping)
		<-c.watched
		if c.database == nil {
			c.stopErr = c.dir.Close()
			return
		}
		c.stopErr = c.database.shutdown(ctx)
		if c.link != "" {
			_ = os.Remove(c.link) // a remaining link does no harm
		}
		c.log.Info("database stopped", "folder", c.folder)
	})
	return c.stopErr
}

// URL is the address of the database stoa for the role stoa, for lib/pq and libpq alike. It names the file with the password
// and holds no secret. It stays the same across restarts; only the owner of the data folder and root can use it.
func (c *Cluster) URL() string {
	host := c.folder
	if c.link != "" {
		host = c.link
	}
	query := url.Values{"host": {host}, "port": {port}, "sslmode": {"disable"}, "passfile": {c.passwordPath()}}
	return (&url.URL{Scheme: "postgres", User: url.User(role), Path: "/" + role, RawQuery: db.EncodeParameters(query)}).String()
}

const (
	port       = "5432" // only part of the socket's name
	socketFile = ".s.PGSQL." + port
	longest    = 107 // bytes of a path that fit into a socket address
)

// placeLink makes a symbolic link with a short name to a folder whose path is too long for a socket or has a comma, which
// separates hosts. It replaces a link that is neither ours nor root's, or that leads elsewhere.
func (c *Cluster) placeLink() error {
	var stat unix.Stat_t
	if len(filepath.Join(c.folder, socketFile)) <= longest && !strings.Contains(c.folder, ",") {
		return nil
	}
	if c.link == "" {
		if err := unix.Stat(c.folder, &stat); err != nil {
			return fmt.Errorf("%s: %w", c.folder, err)
		}
		c.link = filepath.Join("/tmp", fmt.Sprintf("stoa-%x-%x", stat.Dev, stat.Ino))
	}
	err := unix.Lstat(c.link, &stat)
	if target, _ := os.Readlink(c.link); err == nil && target == c.folder && (stat.Uid == 0 || int(stat.Uid) == os.Geteuid()) {
		return nil
	}
	if err := os.Remove(c.link); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Symlink(c.folder, c.link)
}

const (
	unfinished = "postgres.new-" // prefix of a cluster that is being initialised
	superuser  = "postgres"      // owns the system catalogues; cannot log in
	role       = "stoa"          // role and database

	settingsFile = "stoa.conf"   // written at each start, so that a newer server applies its settings
	tuningFile   = "tuning.conf" // the operator's own; overrides the settings that may change
	hbaFile      = "pg_hba.conf" // who may log in

	// passwordFile is in the data folder, mode 0600. It holds one line in the format of libpq's password file, which lib/pq reads as
	// well (parameter passfile), so that URL contains no secret.
	passwordFile = "postgres.pgpass"
)

// initialise makes the cluster if it does not exist. It builds the cluster under another name and renames it when complete, so
// that an interruption leaves nothing that looks like a cluster. Leftovers of earlier attempts are deleted.
func (c *Cluster) initialise(ctx context.Context) error {
	leftovers, _ := fs.Glob(os.DirFS(c.data), unfinished+"*") // the pattern is well formed
	for _, leftover := range leftovers {
		if err := os.RemoveAll(filepath.Join(c.data, leftover)); err != nil {
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

// restorePassword gives the role a new password if the file with its password is lost. No database runs on the folder, whose flock is
// held. The file comes last, so an interrupted change is repeated.
func (c *Cluster) restorePassword(ctx context.Context, dir *os.File) error {
	if _, err := os.Stat(c.passwordPath()); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	password := rand.Text()
	if err := c.asSuperuser(ctx, dir, fmt.Sprintf("ALTER ROLE %s PASSWORD '%s';\n", role, password)); err != nil {
		return fmt.Errorf("set the database's password: %w", err)
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
