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
// killed. Other processes, such as a backup beside the server, use it until then.
//
// Failure: a database that dies is not started again. Config.Ended is called, the server ends, and its next start recovers the
// database. Nothing here protects a folder on a network file system or one shared between machines.
package cluster

import (
	"context"
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
	// DataDir is STOA_DATA_DIR; it is created with mode 0700 if it is missing. An existing one keeps its mode.
	DataDir string
	// Logger receives starts and stops; nil means slog.Default().
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
// look. It creates nothing.
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
// ctx's error. Other errors: ErrNoPrograms, a data folder that cannot be written or belongs to another account, one that another
// process keeps locked, and the last lines of a PostgreSQL program that failed (§11).
func Start(ctx context.Context, config Config) (*Cluster, error) {
	data, err := filepath.Abs(config.DataDir)
	if err != nil {
		return nil, fmt.Errorf("cluster: data folder: %w", err)
	}
	c := &Cluster{
		config: config, log: config.Logger, data: data, folder: filepath.Join(data, "postgres"),
		stopping: make(chan struct{}), watched: make(chan struct{}),
	}
	if c.log == nil {
		c.log = slog.Default()
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
			_ = os.Remove(c.link) // one that stays does no harm
		}
		c.log.Info("database stopped", "folder", c.folder)
	})
	return c.stopErr
}

// URL is the address of the database stoa for the role stoa, for lib/pq, pgx and libpq alike. It names the file with the password
// and holds no secret. It stays the same across restarts and is of use only to the owner of the data folder, and to root.
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
