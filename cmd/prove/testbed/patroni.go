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
	"syscall"
	"text/template"
	"time"

	"stoa/cmd/child"
)

const (
	// nodes is how many databases there are.
	nodes = 2
	// primaryTimeout and standbyTimeout are the times within which there must be a primary and a standby; pollPause is the time
	// between two looks.
	primaryTimeout = 60 * time.Second
	standbyTimeout = 60 * time.Second
	pollPause      = 100 * time.Millisecond
	// primaryOnly are the parameters of a URL that names several hosts, after sslmode.
	primaryOnly = "&connect_timeout=3&target_session_attrs=read-write"
)

// Patroni is a primary with a synchronous standby that can change roles, managed by Patroni with etcd.
type Patroni struct {
	Nodes []*Node

	account

	folder string
	etcd   *child.Process
}

// Node is one PostgreSQL with its Patroni.
type Node struct {
	Name string
	// Address is PostgreSQL's listener, API is Patroni's.
	Address, API string

	service

	cluster *Patroni
	folder  string
}

// patroniSettings make a standby replace a lost primary within half a minute: its lease lasts 20 s, Patroni's minimum.
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

// newPatroni starts etcd and both nodes, and creates the role and the database.
func newPatroni(ctx context.Context, folder string) (p *Patroni, err error) {
	p = &Patroni{folder: folder}
	if p.account, err = newAccount(filepath.Dir(folder), "patroni"); err != nil {
		return p, err
	}
	if err := errors.Join(os.Mkdir(folder, 0o700), p.own(folder)); err != nil {
		return p, err
	}
	etcd, err := p.startEtcd(ctx)
	if err != nil {
		return p, fmt.Errorf("etcd: %w", err)
	}
	for i := range nodes {
		n := &Node{Name: "node-" + strconv.Itoa(i+1), cluster: p}
		n.folder = filepath.Join(p.folder, n.Name)
		n.launch = func(ctx context.Context) (*child.Process, error) { // Patroni starts the database
			return p.start(ctx, p.command(ctx, n.folder, "patroni", n.settings()), "INFO")
		}
		if err := n.configure(etcd); err != nil {
			return p, err
		}
		p.Nodes = append(p.Nodes, n)
		if err := n.Start(ctx); err != nil {
			return p, err
		}
		if err := p.AwaitPrimary(ctx); err != nil {
			return p, err
		}
	}
	return p, errors.Join(createStoa(ctx, p.URL("postgres", "postgres")), p.AwaitStandby(ctx))
}

func (p *Patroni) startEtcd(ctx context.Context) (address string, err error) {
	if address, err = child.FreeAddress(); err != nil {
		return "", err
	}
	peer, err := child.FreeAddress()
	if err != nil {
		return "", err
	}
	command := p.command(ctx, p.folder, "etcd", "--data-dir", filepath.Join(p.folder, "etcd"),
		"--listen-client-urls", "http://"+address, "--advertise-client-urls", "http://"+address, "--listen-peer-urls", "http://"+peer,
		"--initial-advertise-peer-urls", "http://"+peer, "--initial-cluster", "default=http://"+peer, "--unsafe-no-fsync")
	p.etcd, err = p.start(ctx, command, "ready to serve client requests")
	return address, err
}

// start starts a command and waits for a text in its output.
func (a account) start(ctx context.Context, command *exec.Cmd, ready string) (*child.Process, error) {
	return child.Start(ctx, command, a.log, func(line []byte) bool { return bytes.Contains(line, []byte(ready)) })
}

func (n *Node) configure(etcd string) (err error) {
	if n.Address, err = child.FreeAddress(); err != nil {
		return err
	}
	if n.API, err = child.FreeAddress(); err != nil {
		return err
	}
	var text bytes.Buffer
	err = errors.Join(os.Mkdir(n.folder, 0o700), n.cluster.own(n.folder), patroniSettings.Execute(&text, map[string]string{
		"Name": n.Name, "API": n.API, "Etcd": etcd, "Address": n.Address, "Folder": n.folder, "Programs": n.cluster.programs,
	}))
	return errors.Join(err, os.WriteFile(n.settings(), text.Bytes(), 0o644)) //nolint:gosec // another account reads it
}

func (n *Node) settings() string { return filepath.Join(n.folder, "patroni.yml") }

// Kill ends Patroni and the database of the node with SIGKILL, as the loss of its machine would.
func (n *Node) Kill() error {
	text, err := os.ReadFile(filepath.Join(n.folder, "data", "postmaster.pid"))
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		return err
	}
	n.Signal(syscall.SIGKILL)
	err = syscall.Kill(pid, syscall.SIGKILL)
	n.End(syscall.SIGKILL) // Patroni's output ends with the database, which has it too
	return err
}

// isPrimary asks Patroni whether the node is the running primary.
func (n *Node) isPrimary(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	_, text, err := ask(ctx, http.MethodGet, "http://"+n.API+"/patroni", "", nil)
	var told struct {
		Role  string `json:"role"`
		State string `json:"state"`
	}
	return err == nil && json.Unmarshal(text, &told) == nil && (told.Role == "master" || told.Role == "primary") && told.State == "running"
}

// Primary returns the present primary, or nil if no node is one.
func (p *Patroni) Primary(ctx context.Context) *Node {
	for _, n := range p.Nodes {
		if n.isPrimary(ctx) {
			return n
		}
	}
	return nil
}

// AwaitPrimary waits until there is a primary.
func (p *Patroni) AwaitPrimary(ctx context.Context) error {
	if err := Await(ctx, pollPause, primaryTimeout, func() bool { return p.Primary(ctx) != nil }); err != nil {
		return fmt.Errorf("no node becomes the primary: %w", err)
	}
	return nil
}

// AwaitStandby waits until a synchronous standby follows the primary.
func (p *Patroni) AwaitStandby(ctx context.Context) error {
	db, err := sql.Open("postgres", p.URL("postgres", "postgres"))
	if err != nil {
		return err
	}
	defer db.Close()
	if err := Await(ctx, pollPause, standbyTimeout, func() bool {
		var n int
		err := db.QueryRowContext(ctx, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'").Scan(&n)
		return err == nil && n > 0
	}); err != nil {
		return fmt.Errorf("no synchronous standby follows the primary: %w", err)
	}
	return nil
}

// SwitchOver makes the standby the primary, gracefully.
func (p *Patroni) SwitchOver(ctx context.Context) error {
	primary := p.Primary(ctx)
	if primary == nil {
		return errors.New("there is no primary")
	}
	_, _, err := ask(ctx, http.MethodPost, "http://"+primary.API+"/switchover", "", []byte(`{"leader": "`+primary.Name+`"}`))
	return err
}

// URL names both nodes; a connection uses the one that accepts writes. lib/pq reads several hosts only in this form.
func (p *Patroni) URL(role, database string) string {
	var hosts, ports []string
	for _, n := range p.Nodes {
		host, port, _ := strings.Cut(n.Address, ":")
		hosts, ports = append(hosts, host), append(ports, port)
	}
	return "postgres://" + role + "@/" + database + "?host=" + strings.Join(hosts, ",") + "&port=" + strings.Join(ports, ",") +
		"&sslmode=disable" + primaryOnly
}

func (p *Patroni) close() error {
	for _, n := range p.Nodes {
		n.Stop()
	}
	p.etcd.Stop()
	return p.log.Close()
}
