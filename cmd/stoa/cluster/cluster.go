// Package cluster runs the private PostgreSQL cluster of a server that was
// given no STOA_DATABASE_URL (§11).
//
// The data folder holds:
//
//	postgres/             the cluster itself, 0700, owned by the account that runs it
//	postgres.new-*/       a cluster being initialised; renamed to postgres/ when complete
//	postgres.pgpass       the password of the role stoa, 0600, owned by the same account
//	postgres.log, .log.1  what the database says, bounded in size
//	postgres.users.lock   held shared by every server process that uses the cluster
//	postgres.start.lock   held exclusively while someone starts or stops the database
//
// Invariants:
//   - postgres/ exists only complete: with the role and the database stoa in it.
//   - The directory postgres/ is locked (flock) by the running database. The
//     postmaster inherits the locked descriptor and hands it to each of its
//     children, so a free lock proves that no process of the cluster is left,
//     whatever a stale postmaster.pid says.
//   - Who listens on the socket inside postgres/ is the postmaster of this
//     folder: the kernel reports its pid, so that no recorded pid is trusted.
//   - There is no TCP listener, and the superuser cannot log in. The role stoa
//     logs in through a socket that only the owner of the folder and root can
//     reach, with a password (SCRAM) that is made with the cluster.
//     Clusters of versions without one get it at their next start.
//
// PostgreSQL refuses to run as root. Started as root, the package runs it as an
// unprivileged account, which need not be able to traverse the folders above
// the cluster: the programs are handed the open directory and work on
// /proc/self/fd/3.
//
// Concurrency: any number of server processes, and any number of Clusters in
// one process, may share a data folder. The first starts the database, the
// others adopt it, and the last to stop takes it down.
//
// Failure: a database that dies is started again by the supervisor of whichever
// process notices first. A server that dies leaves the database running; the
// next one adopts it. Nothing here protects a folder on a network file system
// or one shared between machines.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

// Config says where the cluster lives and how safe it must be (§11).
type Config struct {
	// DataDir is STOA_DATA_DIR; it is created, 0700, where it is missing. An
	// existing one keeps its mode.
	DataDir string
	// Logger receives starts, stops and restarts; nil means slog.Default().
	Logger *slog.Logger
	// Volatile gives up durability (fsync, full_page_writes and
	// synchronous_commit off) for speed. For tests only: a crash of the machine
	// destroys the cluster.
	Volatile bool
	// TestRole makes the role a superuser, lets it and every role it creates log
	// in to all databases, and allows more connections at once. For tests only;
	// it counts when the cluster is initialised.
	TestRole bool
}

// Cluster is one server process's hold on the cluster of a data folder. Its
// methods may be called from any goroutine.
type Cluster struct {
	config Config
	log    *slog.Logger
	data   string // absolute
	folder string // data/postgres

	programs programs
	account  account
	users    *os.File // postgres.users.lock, locked shared
	socket   socket

	password     string
	passwordMade bool // by this process, and not yet given to the role

	postmaster *postmaster // the supervisor's until done is closed
	cancel     context.CancelFunc
	done       chan struct{}

	stop    sync.Once
	stopErr error
}

// ErrNoCluster says that a data folder has no cluster.
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

// Start initialises the cluster unless the data folder has one, starts or
// adopts its database, waits until it answers, and keeps it alive until Stop.
// The caller must call Stop. ctx bounds the start alone; once it is done, Start
// ends what it began and returns its error. Other errors: ErrNoPrograms, a data
// folder that cannot be written or belongs to another account, and the last
// lines of a PostgreSQL program that failed (§11).
func Start(ctx context.Context, config Config) (*Cluster, error) {
	data, err := filepath.Abs(config.DataDir)
	if err != nil {
		return nil, fmt.Errorf("cluster: data folder: %w", err)
	}
	c := &Cluster{config: config, log: config.Logger, data: data, folder: filepath.Join(data, "postgres")}
	if c.log == nil {
		c.log = slog.Default()
	}
	if err := c.open(ctx); err != nil {
		return nil, fmt.Errorf("cluster: %w", err)
	}
	life, cancel := context.WithCancel(context.Background())
	c.cancel, c.done = cancel, make(chan struct{})
	go c.supervise(life)
	return c, nil
}

// URL is the address of the database stoa for the role stoa, for lib/pq, pgx
// and libpq alike. It names the file with the password and holds no secret. It
// stays the same across restarts of the database and is of use only to the
// account that owns the data folder, and to root.
func (c *Cluster) URL() string { return c.socket.url(c.passwordPath()) }

// Stop gives up this process's hold. The last process out shuts the database
// down, ending open transactions, and waits; others leave it running. When ctx
// is done first, the database is stopped the hard way (it recovers at its next
// start) and an error is returned. Further calls return the same result (§11).
func (c *Cluster) Stop(ctx context.Context) error {
	c.stop.Do(func() {
		c.cancel()
		<-c.done
		if err := c.close(ctx); err != nil {
			c.stopErr = fmt.Errorf("cluster: %w", err)
		}
	})
	return c.stopErr
}
