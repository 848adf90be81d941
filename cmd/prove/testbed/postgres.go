package testbed

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"database/sql"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	_ "github.com/lib/pq" // the driver

	"stoa/cmd/child"
)

// settings of the database besides its addresses. It must survive what a production's survives, so fsync stays on.
const settings = `
max_connections = 300
unix_socket_directories = ''
log_min_messages = warning
log_line_prefix = '%m [%p] %q%d '
timezone = 'UTC'
`

// small are the settings of a database on its own disk in memory, large those of one whose speed is measured.
const (
	small = "max_wal_size = 128MB\nshared_buffers = 64MB\n"
	large = "max_wal_size = 2GB\nshared_buffers = 512MB\n"
)

// access lets everybody on the loopback in: the address is secret enough for a throw-away database.
const access = "host all all 127.0.0.1/32 trust\n" //nolint:dupword // every database, every role

// Postgres is a PostgreSQL cluster over TCP.
type Postgres struct {
	// Address is its host and port.
	Address string
	// Disk is where its files are.
	Disk *Disk

	programs, folder string
	// diskSize is that of its own disk for its files, 0 for none.
	diskSize   int64
	credential *syscall.Credential
	log        *os.File

	mu      sync.Mutex
	process *child.Process
}

// postgresPrograms returns the folder of the newest PostgreSQL's programs.
func postgresPrograms() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil || len(found) == 0 {
		return "", errors.Join(err, errors.New("no PostgreSQL in /usr/lib/postgresql: apt-get install postgresql"))
	}
	return filepath.Dir(found[len(found)-1]), nil
}

func newPostgres(folder string, diskSize int64) (*Postgres, error) {
	programs, err := postgresPrograms()
	if err != nil {
		return nil, err
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	log, err := newLog(filepath.Dir(folder), "database")
	return &Postgres{Address: address, programs: programs, folder: folder, diskSize: diskSize, log: log}, err
}

// create initialises the cluster, starts it, and makes the role and the database.
func (p *Postgres) create(ctx context.Context, withTLS bool) (err error) {
	if p.Disk, err = newDisk(p.folder, p.diskSize); err != nil {
		return err
	}
	if os.Geteuid() == 0 { // PostgreSQL refuses to run as root
		if p.credential, err = credentialOf("postgres"); err != nil {
			return err
		}
		if err := os.Chown(p.folder, int(p.credential.Uid), int(p.credential.Gid)); err != nil {
			return err
		}
	}
	if err := p.initialise(ctx, withTLS); err != nil {
		return err
	}
	if err := p.Start(ctx); err != nil {
		return err
	}
	maintenance, err := sql.Open("postgres", p.url("postgres"))
	if err != nil {
		return err
	}
	for _, statement := range []string{"CREATE ROLE stoa LOGIN", "CREATE DATABASE stoa OWNER stoa TEMPLATE template0"} {
		if _, err := maintenance.ExecContext(ctx, statement); err != nil {
			return errors.Join(err, maintenance.Close())
		}
	}
	return maintenance.Close()
}

func (p *Postgres) url(database string) string {
	return "postgres://postgres@" + p.Address + "/" + database + "?sslmode=disable"
}

func (p *Postgres) initialise(ctx context.Context, withTLS bool) error {
	initdb := exec.CommandContext(ctx, filepath.Join(p.programs, "initdb"), "-D", p.folder, "--username=postgres", "--auth=trust",
		"--encoding=UTF8", "--locale=C.UTF-8", "--no-instructions")
	initdb.SysProcAttr = &syscall.SysProcAttr{Credential: p.credential}
	initdb.Dir = p.folder
	if out, err := initdb.CombinedOutput(); err != nil {
		return fmt.Errorf("initdb: %w\n%s", err, out)
	}
	host, port, err := net.SplitHostPort(p.Address)
	if err != nil {
		return err
	}
	text := settings + "listen_addresses = '" + host + "'\nport = " + port + "\n"
	if p.diskSize == 0 {
		text += large
	} else {
		text += small
	}
	if withTLS {
		text += "ssl = on\n"
		if err := p.writeCertificate(); err != nil {
			return err
		}
	}
	if err := p.writeFile("postgresql.auto.conf", []byte(text)); err != nil {
		return err
	}
	return p.writeFile("pg_hba.conf", []byte(access))
}

// writeCertificate makes a key and a certificate for the loopback, which signs itself.
func (p *Postgres) writeCertificate() error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour),
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return errors.Join(
		p.writeFile("server.crt", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})),
		p.writeFile("server.key", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})),
	)
}

// writeFile writes a file of the cluster that its account may read.
func (p *Postgres) writeFile(name string, content []byte) error {
	path := filepath.Join(p.folder, name)
	if err := os.WriteFile(path, content, 0o600); err != nil || p.credential == nil {
		return err
	}
	return os.Chown(path, int(p.credential.Uid), int(p.credential.Gid))
}

// Start starts the database and waits until it answers.
func (p *Postgres) Start(ctx context.Context) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	command := exec.CommandContext(context.WithoutCancel(ctx), filepath.Join(p.programs, "postgres"), "-D", p.folder)
	command.Dir = p.folder
	command.SysProcAttr = &syscall.SysProcAttr{Credential: p.credential}
	process, err := child.Start(ctx, command, p.log, func(line []byte) bool {
		return strings.Contains(string(line), "ready to accept connections")
	})
	p.process = process
	return err
}

// StopImmediately ends the database as a crash would (pg_ctl stop -m immediate).
func (p *Postgres) StopImmediately() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.process.Signal(syscall.SIGQUIT)
	<-p.process.Ended()
}

// Revive starts the database again where it has ended by itself.
func (p *Postgres) Revive(ctx context.Context) error {
	p.mu.Lock()
	ended := p.process.Ended()
	p.mu.Unlock()
	select {
	case <-ended:
		return p.Start(ctx)
	case <-time.After(reviveGrace):
		return nil
	}
}

// reviveGrace is how long a database that panics takes to end.
const reviveGrace = 500 * time.Millisecond

func (p *Postgres) close() error {
	var errs []error
	if p.process != nil {
		p.process.Signal(syscall.SIGINT) // a fast stop
		select {
		case <-p.process.Ended():
		case <-time.After(10 * time.Second):
			p.process.Kill()
		}
	}
	if p.Disk != nil {
		errs = append(errs, p.Disk.close())
	}
	return errors.Join(append(errs, p.log.Close())...)
}

// credentialOf returns the account of that name.
func credentialOf(name string) (*syscall.Credential, error) {
	found, err := user.Lookup(name)
	if err != nil {
		return nil, err
	}
	uid, err := strconv.ParseUint(found.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(found.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}
