package testbed

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"text/template"
	"time"

	"stoa/cmd/child"
)

// The headers by which an agent learns who answered.
const (
	// ServerHeader names the server.
	ServerHeader = "X-Served-By"
	// BalancerHeader is set where no server answered, but the load balancer itself.
	BalancerHeader = "X-Not-Served"
)

// BalancerInterval is the time in which the load balancer finds out that a server is ready.
const BalancerInterval = 500 * time.Millisecond

// configuration asks each server for its readiness five times a second, with a second to answer, since the machine may be busy. It
// passes a request to another server only where the first one has not accepted the connection: everything else is the agent's to
// repeat.
var configuration = template.Must(template.New("haproxy").Parse(`
global
  maxconn 8192
defaults
  mode http
  timeout connect 2s
  timeout client 120s
  timeout server 120s
  timeout tunnel 1h
  timeout http-request 60s
  timeout check 1s
  retries 3
  retry-on conn-failure
  option redispatch 1
{{range .Statuses}}  http-error status {{.}} content-type "text/plain" string "no server answered" hdr {{$.NotServed}} "{{.}}"
{{end}}
frontend agents
  bind {{.Address}}
  default_backend servers
backend servers
  balance roundrobin
  option forwardfor
  option httpchk GET /readyz
  http-check expect status 200
  http-response set-header {{.ServedBy}} %s
{{if .Measured}}  timeout check 5s
  default-server check inter 200ms fastinter 100ms fall 3 rise 1
{{else}}  default-server check inter 200ms fastinter 100ms fall 1 rise 1
{{end}}{{range .Servers}}  server {{.Name}} {{.Address}}
{{end}}`))

type balancer struct {
	process *child.Process
}

func newBalancer(ctx context.Context, folder, address string, servers []*Server) (*balancer, error) {
	var text bytes.Buffer
	if err := configuration.Execute(&text, map[string]any{
		"Address": address, "Servers": servers, "ServedBy": ServerHeader, "NotServed": BalancerHeader, "Statuses": []int{502, 503, 504},
		"Measured": servers[0].bed.Measured, // a server that has all it can do answers late, but is not to be given up
	}); err != nil {
		return nil, err
	}
	path := filepath.Join(folder, "haproxy.cfg")
	if err := os.WriteFile(path, text.Bytes(), 0o600); err != nil {
		return nil, err
	}
	log, err := newLog(folder, "balancer")
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(context.WithoutCancel(ctx), "haproxy", "-W", "-f", path)
	process, err := child.Start(ctx, command, log, func(line []byte) bool { return bytes.Contains(line, []byte("Loading success")) })
	if err != nil {
		return nil, err
	}
	return &balancer{process}, nil
}
