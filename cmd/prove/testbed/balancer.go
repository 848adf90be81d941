package testbed

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"

	"stoa/cmd/child"
)

// The headers that identify who answered.
const (
	// ServerHeader names the server.
	ServerHeader = "X-Served-By"
	// BalancerHeader is set if the load balancer itself answered and no server.
	BalancerHeader = "X-Not-Served"
	// ChosenHeader of a request names the server to answer it; another one answers while it is not ready.
	ChosenHeader = "X-Shall-Serve"
)

// BalancerInterval is the time in which the load balancer finds out that a server is ready.
const BalancerInterval = 500 * time.Millisecond

// configuration checks each server's readiness five times a second. A server that is gone refuses the connection; one that is
// only slow, because the machine is busy, has 10 s. Backend servers passes a request to another server only if the first one has
// not accepted the connection: agents repeat everything else. Backend strict tries one server only, and checks its readiness
// every 1.5 s: a server that ends waits 2 s (§11). It serves all clients whose addresses are in the list, which is empty until
// SetStrict.
var configuration = template.Must(template.New("haproxy").Parse(`
global
  maxconn 8192
  stats socket {{.Socket}} mode 600 level admin
defaults
  mode http
  timeout connect 2s
  timeout client 120s
  timeout server 120s
  timeout tunnel 1h
  timeout http-request 60s
  timeout check 10s
{{range .Statuses}}  http-error status {{.}} content-type "text/plain" string "no server answered" hdr {{$.NotServed}} "{{.}}"
{{end}}
frontend agents
  bind {{.Address}}
  monitor-uri {{.Canary}}
  acl strict src -f {{.Strict}}
  use_backend strict if strict
  default_backend servers
backend servers
  retries 3
  retry-on conn-failure
  option redispatch 1
  default-server check inter 200ms fastinter 100ms fall 1 rise 1
{{template "all" .}}
backend strict
  retries 0
  http-reuse never
  default-server check inter 1500ms fastinter 1500ms downinter 200ms fall 1 rise 1
{{template "all" .}}
{{define "all"}}
  balance roundrobin
  option forwardfor
  option httpchk GET /readyz
  http-check expect status 200
  http-response set-header {{.ServedBy}} %s
{{range .Servers}}  server {{.Name}} {{.Address}}
  use-server {{.Name}} if { req.hdr({{$.Chosen}}) {{.Name}} }
{{end}}{{end}}`))

type balancer struct {
	process *child.Process
	// socket takes commands; strict is the list of the addresses whose requests are tried once.
	socket, strict string
}

// CanaryPath is answered by the load balancer itself.
const CanaryPath = "/canary"

func newBalancer(ctx context.Context, folder, address string, servers []*Server) (*balancer, error) {
	b := &balancer{socket: filepath.Join(folder, "haproxy.sock"), strict: filepath.Join(folder, "strict.list")}
	var text bytes.Buffer
	if err := configuration.Execute(&text, map[string]any{
		"Address": address, "Servers": servers, "ServedBy": ServerHeader, "Chosen": ChosenHeader, "NotServed": BalancerHeader, "Statuses": []int{502, 503, 504},
		"Socket": b.socket, "Strict": b.strict, "Canary": CanaryPath,
	}); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "haproxy.cfg")
	if err := errors.Join(os.WriteFile(path, text.Bytes(), 0o600), os.WriteFile(b.strict, nil, 0o600)); err != nil {
		return nil, err
	}
	log, err := newLog(folder, "balancer")
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), "haproxy", "-W", "-f", path)
	b.process, err = child.Start(ctx, command, log, func(line []byte) bool { return bytes.Contains(line, []byte("Loading success")) })
	return b, err
}

// SetStrict makes the load balancer try only one server for each request, like one without redispatch, or several again.
func (b *Bed) SetStrict(ctx context.Context, on bool) error {
	command := "clear acl " + b.balancer.strict
	if on {
		command = "add acl " + b.balancer.strict + " 127.0.0.0/8"
	}
	answer, err := b.balancer.tell(ctx, command)
	if err == nil && answer != "" {
		err = fmt.Errorf("the load balancer says: %s", answer)
	}
	return err
}

// Balanced reports whether the load balancer has found all servers ready. A busy machine needs longer than BalancerInterval.
func (b *Bed) Balanced(ctx context.Context) bool {
	answer, err := b.balancer.tell(ctx, "show stat")
	const name, status = 1, 17 // svname and status, as HAProxy's management guide numbers them
	ready := 0
	for line := range strings.Lines(answer) {
		row := strings.Split(line, ",")
		if len(row) > status && strings.HasPrefix(row[name], "server-") && strings.HasPrefix(row[status], "UP") {
			ready++
		}
	}
	return err == nil && ready == 2*len(b.Servers) // each is in both backends
}

// tell sends the load balancer a command and returns its answer.
func (b *balancer) tell(ctx context.Context, command string) (string, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "unix", b.socket)
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(conn, command+"\n")
	answer, unread := io.ReadAll(conn)
	return string(bytes.TrimSpace(answer)), errors.Join(err, unread, conn.Close())
}

// Network is the proxy between a server and the database, or each of the databases, or between all servers and the mail server.
type Network struct {
	// Addresses are the proxy's, for the servers.
	Addresses []string

	proxies []*toxiproxy.Proxy
}

func newNetwork(name string, upstreams []string) (*Network, error) {
	zerolog.SetGlobalLevel(zerolog.Disabled) // toxics ignore the logger of their server
	n := new(Network)
	for _, upstream := range upstreams {
		address, err := child.FreeAddress()
		if err != nil {
			return n, err
		}
		server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
		n.Addresses = append(n.Addresses, address)
		n.proxies = append(n.proxies, toxiproxy.NewProxy(server, name, address, upstream))
	}
	return n, n.Mend()
}

// Add adds a toxic, as toxiproxy names it, to both directions of all connections, open and new ones, until heal is called. Each one
// has its own name, so faults of one network may overlap.
func (n *Network) Add(kind string, attributes map[string]int) (heal func(ctx context.Context) error, err error) {
	var names []string
	for _, stream := range []string{"upstream", "downstream"} {
		name := stream + " " + uuid.NewString()
		names = append(names, name)
		text, _ := json.Marshal(map[string]any{"name": name, "type": kind, "stream": stream, "attributes": attributes}) //nolint:errchkjson // it is plain
		for _, proxy := range n.proxies {
			_, failed := proxy.Toxics.AddToxicJson(bytes.NewReader(text))
			err = errors.Join(err, failed)
		}
	}
	return func(ctx context.Context) (err error) {
		for _, name := range names {
			for _, proxy := range n.proxies {
				err = errors.Join(err, proxy.Toxics.RemoveToxic(ctx, name))
			}
		}
		return err
	}, err
}

// Cut breaks all connections and refuses new ones until Mend.
func (n *Network) Cut() {
	for _, proxy := range n.proxies {
		proxy.Stop()
	}
}

// Mend lets connections through, at first and after Cut.
func (n *Network) Mend() (err error) {
	for _, proxy := range n.proxies {
		err = errors.Join(err, proxy.Start())
	}
	return err
}
