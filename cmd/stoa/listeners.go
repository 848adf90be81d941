package main

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/pprof" // it also registers with http.DefaultServeMux, which nothing here serves

	"golang.org/x/sys/unix"

	"stoa/graph"
	"stoa/graph/console"
	"stoa/graph/platform/httpserver"
	"stoa/graph/platform/metrics"
	"stoa/graph/server"
	"stoa/graph/server/playground"
	"stoa/jobs"
	"stoa/rest"
)

// Shares of the process's file descriptors. The rest is for the database, files and children.
const (
	publicShare   = 0.6
	operatorShare = 0.1
)

// listen opens an address and serves it, with at most a share of the file descriptors that the process may open; name is public or
// operator. While the process shuts down, every answer closes its connection.
func (p *process) listen(
	ctx context.Context, name, address string, share float64, handler http.Handler,
) (*httpserver.Server, error) {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return nil, err
	}
	connections := min(p.settings.Connection.Connections, int(share*float64(min(files.Cur, 1<<30))))
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
		Tracer:                      p.tracer,
		Draining:                    &p.draining,
		TrustedProxies:              p.settings.TrustedProxies,
		AllowedOrigins:              p.settings.AllowedOrigins,
		NoSite:                      p.settings.Site == "off",
		Version:                     versionText(),
		RequestsPerAddressPerSecond: p.settings.Limit.RequestsPerAddressPerSecond,
	}
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

func (p *process) readinessChecks() metrics.Checks {
	database := func(ctx context.Context) error {
		if err := p.db.Ping(ctx); err != nil {
			return err
		}
		return p.newConnections.Check(ctx)
	}
	return metrics.Checks{
		"database": database, "migrations": checkSchema(p.db.Direct), "jobs": p.checkJobs, "storage": p.checkStorage,
	}
}

// checkJobs returns an error if this process has the role jobs but does not run them.
func (p *process) checkJobs(ctx context.Context) error {
	if p.jobs == nil {
		return nil
	}
	return p.jobs.Healthy(ctx)
}

const (
	metricsPath = "/metrics"
	pprofPath   = "/debug/pprof"
	// pprofPolicy allows the inline styles of the list of profiles.
	pprofPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
)

// serveOperator replaces the operator listener of the start by the complete listener (§10).
func (p *process) serveOperator(domains *graph.Graph, token string) error {
	dashboard, err := jobs.NewDashboard(jobs.Config{Graph: domains, DB: p.db, Logger: p.log})
	if err != nil {
		return err
	}
	p.dashboard = dashboard
	p.atEnd(func(context.Context) error {
		dashboard.Stop()
		return nil
	})
	mounts := p.operatorMounts()
	p.operator.Handle(server.New(server.Config{
		Graph: domains, Logger: p.log, Metrics: p.metrics, Tracer: p.tracer, OperatorToken: token,
		TrustedProxies: p.settings.TrustedProxies, Version: versionText(), Mounts: mounts,
		Codes: p.signInCodes, Stylesheet: console.Stylesheet(),
		Pages: func(ask server.Ask) http.Handler {
			return console.New(console.Config{
				Ask: ask, Logger: p.log, Public: p.origin, Tools: mounts, AuditExport: domains.Operator.AuditExport,
				Preview: domains.Attachments.AttachmentPreview,
			})
		},
	}))
	return nil
}

// operatorMounts returns the handlers of the operator listener besides GraphQL and the pages of the console, in the order of
// their navigation.
func (p *process) operatorMounts() []server.Mount {
	return []server.Mount{
		{
			Path: playground.Path, Title: "Playground", About: "Queries and mutations in GraphQL, with the schema at hand.",
			Policy: playground.Policy, Handler: playground.New(),
		},
		{
			Path: jobs.DashboardPath, Title: "Jobs", About: "Work in the background; every change is audited.",
			Policy: jobs.DashboardPolicy, Handler: p.dashboard,
		},
		{
			Path: "/readyz", Title: "Readiness", About: "The checks that this process must pass to be ready, the confinement of the inspection of files, and the lag of the replica.",
			Open: true, Text: true, Handler: rest.New(rest.Config{
				Logger: p.log, Draining: &p.draining, Checks: p.readinessChecks(), Confinement: p.measures.Load,
				Replica: p.replicaStatus,
			}),
		},
		{
			Path: metricsPath, Title: "Metrics", About: "For Prometheus; this page alone needs no token.",
			Open: true, Text: true, ReadOnly: true, Handler: p.metrics.Handler(),
		},
		{
			Path: pprofPath, Title: "Profiles", About: "Where time and memory go, for go tool pprof.",
			Policy: pprofPolicy, Handler: pprofHandler(),
		},
	}
}

// pprofHead precedes the list of profiles: it fits the page to a phone and links back to the console.
const pprofHead = `<!DOCTYPE html><meta name="viewport" content="width=device-width"><nav><a href="/">Back to the console</a></nav>`

// pprofHandler serves all profiles but the command line, which may hold a password.
func pprofHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(pprofPath, http.RedirectHandler(pprofPath+"/", http.StatusFound)) // the list's links are relative
	mux.HandleFunc(pprofPath+"/", pprof.Index)
	mux.HandleFunc(pprofPath+"/{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, pprofHead) // a client that has disconnected needs no answer
		pprof.Index(w, r)
	})
	mux.HandleFunc(pprofPath+"/cmdline", http.NotFound)
	mux.HandleFunc(pprofPath+"/profile", pprof.Profile)
	mux.HandleFunc(pprofPath+"/symbol", pprof.Symbol)
	mux.HandleFunc(pprofPath+"/trace", pprof.Trace)
	return mux
}

// startingOperator is the operator listener before the database answers: metrics, and fallback for everything else.
func (p *process) startingOperator(fallback http.Handler) http.Handler {
	metrics := p.metrics.Handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == metricsPath && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
			metrics.ServeHTTP(w, r)
			return
		}
		fallback.ServeHTTP(w, r)
	})
}
