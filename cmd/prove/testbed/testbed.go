// Package testbed runs a small production: PostgreSQL, several servers behind a load balancer, a mail server, and the network
// between servers and database, all on the loopback and in one folder. Its methods let faults act on each part.
//
// The servers share a database and a data folder, and each reaches the database through its own proxy. Agents reach the servers
// only through HAProxy, which checks /readyz. The package knows only the flags and the listeners of the servers.
//
// Concurrency: a fault may use any method while the workload runs. Failure: if a process cannot be started, the error names its
// log; Close ends everything and returns the processes that did not end.
package testbed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"stoa/cmd/child"
)

// Config describes the programs to run.
type Config struct {
	// Program is the server, such as bin/stoa. Older is another version of it, with which all servers begin, or empty.
	Program, Older string
	// Clocks: the clocks of the servers can be set (.ci/clocks).
	Clocks bool
	// Processes is the number of servers.
	Processes int
	// Failover: a primary and a standby can change roles. Then Bed.Cluster is set, else Bed.Database.
	Failover bool
	// Roomy makes the disks large enough for hours of load.
	Roomy bool
	// Environment are settings of the servers, such as STOA_LIMIT_REGISTRATIONS_PER_HOUR=0.
	Environment []string
}

// Bed is a running production.
type Bed struct {
	Config

	Folder   string
	Database *Postgres
	Cluster  *Patroni
	// DB is the superuser's connection to the database stoa, for the judge. It does not use the proxies.
	DB      *sql.DB
	Servers []*Server
	// Files is the servers' disk for uploads.
	Files *Disk
	// Mail accepts the mails of all servers.
	Mail *MailServer
	// URL is the service's address for agents.
	URL string
	// Acts are the answered actions of operators, each a procedure and the agent that it was applied to, if any.
	Acts []string

	acting   sync.Mutex // guards Acts
	balancer *balancer
}

// The sizes of the disks in bytes, and the factor for hours of load.
const (
	filesSize    = 128 << 20
	databaseSize = 512 << 20
	roominess    = 16
)

// New starts everything in a new folder below parent (empty: the system's temporary folder). If there is a bed, also one that did
// not start, the caller must call Close.
func New(ctx context.Context, parent string, config Config) (*Bed, error) {
	folder, err := os.MkdirTemp(parent, "stoa-prove-")
	if err != nil {
		return nil, err
	}
	b := &Bed{Config: config, Folder: folder}
	if err := b.start(ctx); err != nil {
		return b, fmt.Errorf("testbed: %w", err)
	}
	return b, nil
}

func (b *Bed) start(ctx context.Context) (err error) {
	// The database runs as another account, which must be able to reach its own folder.
	if err := os.Chmod(b.Folder, 0o711); err != nil { //nolint:gosec // its contents are closed to others
		return err
	}
	room := int64(1)
	if b.Roomy {
		room = roominess
	}
	if err := b.startDatabase(ctx, room*databaseSize); err != nil {
		return fmt.Errorf("the database: %w", err)
	}
	if b.Files, err = newDisk(b.Data(), room*filesSize); err != nil {
		return fmt.Errorf("the file store: %w", err)
	}
	if b.Mail, err = newMailServer(); err != nil {
		return err
	}
	address, err := child.FreeAddress()
	if err != nil {
		return err
	}
	b.URL = "http://" + address
	b.Environment = append(slices.Clip(b.Environment), "STOA_BASE_URL="+b.URL,
		"STOA_SMTP_URL=smtp://"+b.Mail.Network.Addresses[0], "STOA_MAIL_FROM=Stoa <stoa@stoa.example>")
	for i := range b.Processes {
		s, err := b.newServer(i + 1)
		if err != nil {
			return err
		}
		b.Servers = append(b.Servers, s)
		if err := s.Start(ctx); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	if b.balancer, err = newBalancer(ctx, b.Folder, address, b.Servers); err != nil {
		return fmt.Errorf("the load balancer: %w", err)
	}
	return b.setUpOwners(ctx)
}

func (b *Bed) startDatabase(ctx context.Context, size int64) (err error) {
	var url string
	if b.Failover {
		b.Cluster, err = newPatroni(ctx, filepath.Join(b.Folder, "cluster"))
		url = b.Cluster.URL("postgres", "stoa")
	} else {
		b.Database, err = newPostgres(ctx, filepath.Join(b.Folder, "database"), size)
		url = b.Database.url("stoa")
	}
	if err != nil {
		return err
	}
	b.DB, err = sql.Open("postgres", url)
	return err
}

// databases returns the addresses of all databases.
func (b *Bed) databases() (addresses []string) {
	if !b.Failover {
		return []string{b.Database.Address}
	}
	for _, n := range b.Cluster.Nodes {
		addresses = append(addresses, n.Address)
	}
	return addresses
}

// Data is the folder that the servers share.
func (b *Bed) Data() string { return filepath.Join(b.Folder, "data") }

// Kill ends all servers with SIGKILL, if a graceful end would only take time.
func (b *Bed) Kill() {
	for _, s := range b.Servers {
		s.End(syscall.SIGKILL)
	}
}

// Close stops everything. The folder stays: its logs may show why a proof failed.
func (b *Bed) Close() error {
	if b.balancer != nil {
		b.balancer.process.Stop()
	}
	var stopping sync.WaitGroup
	for _, s := range b.Servers {
		stopping.Go(s.Stop)
	}
	stopping.Wait()
	for _, s := range b.Servers {
		s.Network.Cut()
	}
	if b.Mail != nil {
		b.Mail.close()
	}
	var errs []error
	if b.Files != nil {
		errs = append(errs, b.Files.close())
	}
	if b.DB != nil {
		errs = append(errs, b.DB.Close())
	}
	if b.Cluster != nil {
		errs = append(errs, b.Cluster.close())
	}
	if b.Database != nil {
		errs = append(errs, b.Database.close())
	}
	return errors.Join(errs...)
}

// Remove removes the folder of a closed bed.
func (b *Bed) Remove() error { return os.RemoveAll(b.Folder) }

// newLog opens the log of a child in the folder.
func newLog(folder, name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(folder, name+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// service is a process that faults end and start again. Its methods may be called from any goroutine.
type service struct {
	// launch starts the process and waits until it serves. The process outlives ctx.
	launch func(ctx context.Context) (*child.Process, error)

	mu      sync.Mutex
	process *child.Process
}

// Start starts the process and waits until it serves. It does nothing if another fault has started it again.
func (s *service) Start(ctx context.Context) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		select {
		case <-s.process.Ended():
		default:
			return nil
		}
	}
	s.process, err = s.launch(ctx)
	return err
}

// Stop ends the process gracefully.
func (s *service) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.Stop()
}

// End sends a signal to the process and waits for its end. It does nothing for a process that could not be started again.
func (s *service) End(signal syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		s.process.Signal(signal)
		<-s.process.Ended()
	}
}

// Signal sends a signal to the process.
func (s *service) Signal(signal syscall.Signal) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.process.Signal(signal)
}

// Await waits until a condition is true, which it calls again after each pause. It returns an error if the time is over or ctx ends.
func Await(ctx context.Context, pause, timeout time.Duration, condition func() bool) error {
	for until := time.Now().Add(timeout); !condition(); {
		if time.Now().After(until) {
			return fmt.Errorf("it takes longer than %s", timeout)
		}
		if err := Wait(ctx, pause); err != nil {
			return err
		}
	}
	return nil
}

// Wait waits for some time. It returns the error of ctx if that ends earlier.
func Wait(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}
