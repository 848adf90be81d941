package main

import (
	"context"
	"net/http"

	"golang.org/x/sys/unix"

	"stoa/graph/platform/httpserver"
)

// connectionSettings bound what clients may hold open.
type connectionSettings struct {
	Connections           int `default:"16384" help:"Open connections of each process and listener; fewer where the process may open fewer files."`
	ConnectionsPerAddress int `default:"2048" help:"Open connections per address, trusted proxies excepted."`
}

// Shares of the file descriptors of the process. The rest is for the database, files and children.
const (
	publicShare   = 0.6
	operatorShare = 0.1
)

// atMost is a limit on connections that keeps a listener within its share of the file descriptors.
func atMost(limit int, share float64) (int, error) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return 0, err
	}
	if bearable := int(share * float64(min(files.Cur, 1<<30))); limit > bearable {
		return bearable, nil
	}
	return limit, nil
}

// listen opens an address and serves it; what says in the log which of the listeners it is. While the process shuts down, every
// answer ends its connection.
func (p *process) listen(ctx context.Context, what, address string, share float64, first http.Handler) (*httpserver.Server, error) {
	connections, err := atMost(p.settings.Connection.Connections, share)
	if err != nil {
		return nil, err
	}
	s, err := httpserver.Listen(ctx, address, first, httpserver.Config{
		Logger: p.log, Metrics: p.metrics, Draining: &p.draining, TrustedProxies: p.settings.TrustedProxies,
		Connections: connections, ConnectionsPerAddress: p.settings.Connection.ConnectionsPerAddress,
	})
	if err != nil {
		return nil, err
	}
	p.log.Info("listening", "what", what, "address", s.Address())
	return s, nil
}
