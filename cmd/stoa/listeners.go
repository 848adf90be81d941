package main

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"golang.org/x/sys/unix"

	"stoa/graph"
	"stoa/graph/platform/httpserver"
	"stoa/rest"
)

// Shares of the process's file descriptors. The rest is for the database, files and children.
const (
	publicShare   = 0.6
	operatorShare = 0.1
)

// limitToShare lowers a limit on connections to a share of the file descriptors that the process may open.
func limitToShare(limit int, share float64) (int, error) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return 0, err
	}
	return min(limit, int(share*float64(min(files.Cur, 1<<30)))), nil
}

// listen opens an address and serves it; name is public or operator. While the process shuts down, every answer closes its
// connection.
func (p *process) listen(
	ctx context.Context, name, address string, share float64, handler http.Handler,
) (*httpserver.Server, error) {
	connections, err := limitToShare(p.settings.Connection.Connections, share)
	if err != nil {
		return nil, err
	}
	s, err := httpserver.Listen(ctx, address, handler, httpserver.Config{
		Logger: p.log, Metrics: p.metrics, Draining: &p.draining, TrustedProxies: p.settings.TrustedProxies,
		Connections: connections, ConnectionsPerAddress: p.settings.Connection.ConnectionsPerAddress,
	})
	if err != nil {
		return nil, err
	}
	p.log.Info("listening", "what", name, "address", s.Address())
	return s, nil
}

// origin is the URL at which clients reach the public listener, once it listens.
func (p *process) origin() string { return cmp.Or(p.settings.BaseURL, "http://"+p.public.Address()) }

// restConfig returns the part of the public listener's settings that does not depend on the database.
func (p *process) restConfig() rest.Config {
	return rest.Config{
		Logger:                      p.log,
		Metrics:                     p.metrics,
		Tracer:                      p.traces.tracer(),
		Draining:                    &p.draining,
		TrustedProxies:              p.settings.TrustedProxies,
		AllowedOrigins:              p.settings.AllowedOrigins,
		NoSite:                      p.settings.Site == "off",
		Version:                     versionText(),
		RequestsPerAddressPerSecond: p.settings.Limit.RequestsPerAddressPerSecond,
	}
}

// startingConfig is the public listener until the database answers: health works, everything else is service_unavailable.
func (p *process) startingConfig() rest.Config {
	starting := func(context.Context) error { return errors.New("the server is starting") }
	c := p.restConfig()
	c.Starting = true
	c.Checks = map[string]rest.Check{"database": starting, "migrations": starting, "jobs": starting, "storage": starting}
	return c
}

// servingConfig configures the public listener for the roles of this process.
func (p *process) servingConfig(domains *graph.Graph) rest.Config {
	c := p.restConfig()
	c.Origin = p.origin()
	c.Checks = p.readinessChecks()
	if p.settings.has("api") {
		c.Graph, c.Events = domains, p.sockets
	}
	if p.settings.has("events") {
		c.Socket = p.sockets
	}
	return c
}

// readinessChecks returns the checks of /readyz.
func (p *process) readinessChecks() map[string]rest.Check {
	database := func(ctx context.Context) error {
		if err := p.db.Ping(ctx); err != nil {
			return err
		}
		return p.newConnections.Check(ctx)
	}
	return map[string]rest.Check{
		"database": database, "migrations": checkSchema(p.db.Direct), "jobs": p.checkJobs, "storage": p.checkStorage,
	}
}

// checkJobs returns an error if this process should run jobs and does not; it passes without the role jobs.
func (p *process) checkJobs(ctx context.Context) error {
	if p.jobs == nil {
		return nil
	}
	return p.jobs.Healthy(ctx)
}
