package testbed

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/lib/pq"

	"stoa/cmd/child"
)

// settings of the database. It must survive the same failures as a production's, so fsync stays on. Its disk is in memory.
const settings = `
max_connections = 300
unix_socket_directories = ''
log_min_messages = warning
log_line_prefix = '%%m [%%p] %%q%%d '
timezone = 'UTC'
max_wal_size = 128MB
shared_buffers = 64MB
listen_addresses = '%s'
port = %s
`

// account runs the programs of databases: PostgreSQL refuses to run as root.
type account struct {
	// programs is the folder of the newest PostgreSQL's programs.
	programs   string
	credential *syscall.Credential
	log        *os.File
}

func newAccount(folder, log string) (a account, err error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return a, errors.Join(err, errors.New("no PostgreSQL in /usr/lib/postgresql: apt-get install postgresql"))
	}
	a.programs = filepath.Dir(found[len(found)-1])
	if os.Geteuid() == 0 {
		owner, err := user.Lookup("postgres")
		if err != nil {
			return a, err
		}
		uid, noUser := strconv.ParseUint(owner.Uid, 10, 32)
		gid, noGroup := strconv.ParseUint(owner.Gid, 10, 32)
		if err := errors.Join(noUser, noGroup); err != nil {
			return a, err
		}
		a.credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	a.log, err = newLog(folder, log)
	return a, err
}

// own makes the account the owner of a folder.
func (a account) own(folder string) error {
	if a.credential == nil {
		return nil
	}
	return os.Chown(folder, int(a.credential.Uid), int(a.credential.Gid))
}

// command is a program that runs in a folder. It outlives ctx.
func (a account) command(ctx context.Context, folder, program string, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(context.WithoutCancel(ctx), program, arguments...)
	command.Dir, command.SysProcAttr = folder, &syscall.SysProcAttr{Credential: a.credential}
	return command
}

// Postgres is a PostgreSQL cluster over TCP.
type Postgres struct {
	// Address is its host and port.
	Address string
	// Disk holds its files.
	Disk *Disk

	account
	service

	folder string
}

// newPostgres initialises the cluster on a disk of diskSize bytes and starts it.
func newPostgres(ctx context.Context, folder string, diskSize int64) (p *Postgres, err error) {
	p = &Postgres{folder: folder}
	p.launch = func(ctx context.Context) (*child.Process, error) {
		return p.start(ctx, p.command(ctx, folder, filepath.Join(p.programs, "postgres"), "-D", folder), "ready to accept connections")
	}
	if p.account, err = newAccount(filepath.Dir(folder), "database"); err != nil {
		return p, err
	}
	if p.Address, err = child.FreeAddress(); err != nil {
		return p, err
	}
	if p.Disk, err = newDisk(p.folder, diskSize); err != nil {
		return p, err
	}
	if err := p.own(folder); err != nil {
		return p, err
	}
	initialise := p.command(ctx, folder, filepath.Join(p.programs, "initdb"), "-D", folder, "--username=postgres",
		"--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions")
	if out, err := initialise.CombinedOutput(); err != nil {
		return p, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	host, port, _ := net.SplitHostPort(p.Address) // it has both
	text := fmt.Sprintf(settings, host, port)
	if err := os.WriteFile(filepath.Join(folder, "postgresql.auto.conf"), []byte(text), 0o600); err != nil {
		return p, err
	}
	if err := p.Start(ctx); err != nil {
		return p, err
	}
	return p, createStoa(ctx, p.url("postgres"))
}

// createStoa creates the role and the database of the servers.
func createStoa(ctx context.Context, url string) error {
	maintenance, err := sql.Open("postgres", url)
	if err != nil {
		return err
	}
	_, noRole := maintenance.ExecContext(ctx, "CREATE ROLE stoa LOGIN")
	_, err = maintenance.ExecContext(ctx, "CREATE DATABASE stoa OWNER stoa TEMPLATE template0")
	return errors.Join(noRole, err, maintenance.Close())
}

func (p *Postgres) url(database string) string {
	return "postgres://postgres@" + p.Address + "/" + database + "?sslmode=disable"
}

// StopImmediately ends the database as a crash would (pg_ctl stop -m immediate).
func (p *Postgres) StopImmediately() { p.End(syscall.SIGQUIT) }

func (p *Postgres) close() error {
	p.StopImmediately()
	if p.Disk == nil {
		return nil
	}
	return errors.Join(p.Disk.close(), p.log.Close())
}

// HoldWrites makes writes to a table wait for a moment while reads go on, as creating an index does. Requests that begin then
// have all read and decided before the first of them writes, if nothing else serializes them. It does nothing while the database
// cannot be reached.
func (b *Bed) HoldWrites(ctx context.Context, table string, length time.Duration) {
	tx, err := b.DB.BeginTx(context.WithoutCancel(ctx), nil)
	if err != nil {
		return
	}
	end := func() { _ = tx.Rollback() } // if that fails, it ended with the database
	// The database itself ends the transaction if a busy machine does not.
	const bounds = "SET LOCAL lock_timeout = '500ms'; SET LOCAL idle_in_transaction_session_timeout = '2s'; "
	if _, err := tx.ExecContext(context.WithoutCancel(ctx), bounds+"LOCK TABLE "+table+" IN SHARE MODE"); err != nil {
		end()
		return
	}
	time.AfterFunc(length, end)
}

// Backends returns the process ids of the servers' connections.
func (b *Bed) Backends(ctx context.Context) (pids []int64, err error) {
	const statement = "SELECT ARRAY(SELECT pid FROM pg_stat_activity WHERE usename = 'stoa' ORDER BY pid)"
	err = b.DB.QueryRowContext(ctx, statement).Scan(pq.Array(&pids))
	return pids, err
}
