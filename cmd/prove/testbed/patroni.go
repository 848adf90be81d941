package testbed

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"text/template"
	"time"

	"stoa/cmd/child"
)

// Patroni is a primary with a synchronous standby that take each other's place, led by Patroni with etcd.
type Patroni struct {
	Nodes []*Node

	folder, programs string
	credential       *syscall.Credential
	etcd             *child.Process
	log              *os.File
}

// Node is one PostgreSQL with the Patroni that runs it.
type Node struct {
	Name string
	// Address is where PostgreSQL listens, API where Patroni does.
	Address, API string

	cluster *Patroni
	folder  string
	mu      sync.Mutex
	process *child.Process
}

// nodes is how many databases there are.
const nodes = 2

// patroniSettings let a lost primary be replaced within half a minute: its lease lasts 20 s, Patroni's least.
var patroniSettings = template.Must(template.New("patroni").Parse(`
scope: stoa
name: {{.Name}}
restapi: {listen: "{{.API}}", connect_address: "{{.API}}"}
etcd3: {host: "{{.Etcd}}"}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 6
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      use_slots: true
      parameters: {max_connections: 300, shared_buffers: 64MB, max_wal_size: 128MB, wal_log_hints: "on", wal_keep_size: 512MB}
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}]
  pg_hba: ["host all,replication all 127.0.0.1/32 trust"]
postgresql:
  listen: "{{.Address}}"
  connect_address: "{{.Address}}"
  data_dir: {{.Folder}}/data
  bin_dir: {{.Programs}}
  basebackup: [{checkpoint: fast}]
  pgpass: {{.Folder}}/pgpass
  authentication: {superuser: {username: postgres}, replication: {username: replicator}, rewind: {username: postgres}}
  parameters: {unix_socket_directories: "", log_min_messages: warning, timezone: UTC}
`))

func newPatroni(folder string) (p *Patroni, err error) {
	p = &Patroni{folder: folder}
	if p.programs, err = postgresPrograms(); err != nil {
		return nil, err
	}
	if p.log, err = newLog(filepath.Dir(folder), "patroni"); err != nil {
		return nil, err
	}
	if os.Geteuid() == 0 {
		if p.credential, err = credentialOf("postgres"); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// create starts etcd and both nodes, and makes the role and the database.
func (p *Patroni) create(ctx context.Context) error {
	if err := p.mkdir(p.folder); err != nil {
		return err
	}
	etcd, err := p.startEtcd(ctx)
	if err != nil {
		return fmt.Errorf("etcd: %w", err)
	}
	for i := range nodes {
		n := &Node{Name: "node-" + strconv.Itoa(i+1), cluster: p}
		n.folder = filepath.Join(p.folder, n.Name)
		if err := n.configure(etcd); err != nil {
			return err
		}
		p.Nodes = append(p.Nodes, n)
		if err := n.Start(ctx); err != nil {
			return err
		}
		if i == 0 {
			if err := p.AwaitPrimary(ctx); err != nil {
				return err
			}
		}
	}
	maintenance, err := sql.Open("postgres", p.URL("postgres", "postgres"))
	if err != nil {
		return err
	}
	for _, statement := range []string{"CREATE ROLE stoa LOGIN", "CREATE DATABASE stoa OWNER stoa TEMPLATE template0"} {
		if _, err := maintenance.ExecContext(ctx, statement); err != nil {
			return errors.Join(err, maintenance.Close())
		}
	}
	return errors.Join(maintenance.Close(), p.AwaitStandby(ctx))
}

func (p *Patroni) mkdir(folder string) error {
	if err := os.Mkdir(folder, 0o700); err != nil || p.credential == nil {
		return err
	}
	return os.Chown(folder, int(p.credential.Uid), int(p.credential.Gid))
}

func (p *Patroni) startEtcd(ctx context.Context) (address string, err error) {
	if address, err = freeAddress(); err != nil {
		return "", err
	}
	peer, err := freeAddress()
	if err != nil {
		return "", err
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), "etcd", "--data-dir", filepath.Join(p.folder, "etcd"),
		"--listen-client-urls", "http://"+address, "--advertise-client-urls", "http://"+address, "--listen-peer-urls", "http://"+peer,
		"--initial-advertise-peer-urls", "http://"+peer, "--initial-cluster", "default=http://"+peer, "--unsafe-no-fsync")
	command.SysProcAttr = &syscall.SysProcAttr{Credential: p.credential}
	command.Dir = p.folder
	p.etcd, err = child.Start(ctx, command, p.log, func(line []byte) bool { return bytes.Contains(line, []byte("ready to serve client requests")) })
	return address, err
}

func (n *Node) configure(etcd string) (err error) {
	if n.Address, err = freeAddress(); err != nil {
		return err
	}
	if n.API, err = freeAddress(); err != nil {
		return err
	}
	if err := n.cluster.mkdir(n.folder); err != nil {
		return err
	}
	var text bytes.Buffer
	if err := patroniSettings.Execute(&text, map[string]string{
		"Name": n.Name, "API": n.API, "Etcd": etcd, "Address": n.Address, "Folder": n.folder, "Programs": n.cluster.programs,
	}); err != nil {
		return err
	}
	return os.WriteFile(n.settings(), text.Bytes(), 0o644) //nolint:gosec // another account reads it
}

func (n *Node) settings() string { return filepath.Join(n.folder, "patroni.yml") }

// Start starts the node's Patroni, which starts the database.
func (n *Node) Start(ctx context.Context) (err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	command := exec.CommandContext(context.WithoutCancel(ctx), "patroni", n.settings())
	command.SysProcAttr = &syscall.SysProcAttr{Credential: n.cluster.credential}
	command.Dir = n.folder
	n.process, err = child.Start(ctx, command, n.cluster.log, func(line []byte) bool { return bytes.Contains(line, []byte("INFO")) })
	return err
}

// Kill ends Patroni and the database of the node with SIGKILL, as the loss of its machine would.
func (n *Node) Kill() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	text, err := os.ReadFile(filepath.Join(n.folder, "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		return err
	}
	n.process.Signal(syscall.SIGKILL)
	err = syscall.Kill(pid, syscall.SIGKILL)
	<-n.process.Ended()
	return err
}

// state asks Patroni for the node's role (master, replica) and state (running).
func (n *Node) state(ctx context.Context) (role, state string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, text, err := get(ctx, "http://"+n.API+"/patroni", "")
	var told struct {
		Role  string `json:"role"`
		State string `json:"state"`
	}
	if err != nil || json.Unmarshal(text, &told) != nil {
		return "", ""
	}
	return told.Role, told.State
}

// Primary returns the node that is the primary now, nil if none is.
func (p *Patroni) Primary(ctx context.Context) *Node {
	for _, n := range p.Nodes {
		if role, state := n.state(ctx); (role == "master" || role == "primary") && state == "running" {
			return n
		}
	}
	return nil
}

// The times in which a primary or a standby must be there.
const (
	primaryTimeout = 60 * time.Second
	standbyTimeout = 60 * time.Second
)

// AwaitPrimary waits until there is a primary.
func (p *Patroni) AwaitPrimary(ctx context.Context) error {
	return await(ctx, primaryTimeout, "no node becomes the primary", func() bool { return p.Primary(ctx) != nil })
}

// AwaitStandby waits until a synchronous standby follows the primary.
func (p *Patroni) AwaitStandby(ctx context.Context) error {
	db, err := sql.Open("postgres", p.URL("postgres", "postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	return await(ctx, standbyTimeout, "no synchronous standby follows the primary", func() bool {
		var n int
		err := db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").Scan(&n)
		return err == nil && n > 0
	})
}

// SwitchOver makes the standby the primary, in order.
func (p *Patroni) SwitchOver(ctx context.Context) error {
	primary := p.Primary(ctx)
	if primary == nil {
		return errors.New("there is no primary")
	}
	body, err := json.Marshal(map[string]string{"leader": primary.Name})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+primary.API+"/switchover", bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("the switchover is refused: %s", response.Status)
	}
	return nil
}

// URL names both nodes; a connection goes to the one that takes writes. lib/pq reads several hosts in this form only.
func (p *Patroni) URL(role, database string) string {
	var hosts, ports []string
	for _, n := range p.Nodes {
		host, port, _ := strings.Cut(n.Address, ":")
		hosts, ports = append(hosts, host), append(ports, port)
	}
	return "postgres://" + role + "@/" + database + "?host=" + strings.Join(hosts, ",") + "&port=" + strings.Join(ports, ",") + primaryOnly
}

// primaryOnly are the parameters of a URL that names several hosts.
const primaryOnly = "&sslmode=disable&connect_timeout=3&target_session_attrs=read-write"

func (p *Patroni) close() error {
	for _, n := range p.Nodes {
		n.process.Stop()
	}
	p.etcd.Stop()
	return p.log.Close()
}

func await(ctx context.Context, timeout time.Duration, otherwise string, condition func() bool) error {
	for until := time.Now().Add(timeout); !condition(); {
		if time.Now().After(until) {
			return errors.New(otherwise)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
	return nil
}
