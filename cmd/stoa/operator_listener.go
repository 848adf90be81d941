package main

import (
	"context"
	"net/http"
	"net/http/pprof" // it also registers with http.DefaultServeMux, which nothing here serves
	"time"

	"stoa/graph"
	"stoa/graph/console"
	"stoa/graph/server"
	"stoa/graph/server/playground"
	"stoa/jobs"
	"stoa/rest"
)

const (
	metricsPath = "/metrics"
	pprofPath   = "/debug/pprof"
	// pprofPolicy allows the inline styles of the list of profiles.
	pprofPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
)

// serveOperator replaces the operator listener of the start by the complete one (§10).
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
		Graph: domains, Logger: p.log, Metrics: p.metrics, Tracer: p.traces.tracer(), OperatorToken: token,
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

// signInLink returns a link that signs an operator in without the token: once, and within five minutes.
func (p *process) signInLink() string {
	return "http://" + p.operator.Address() + p.signInCodes.Path(time.Now(), "")
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
			Path: jobs.DashboardPath, Title: "Jobs", About: "What runs in the background; every change is audited.",
			Policy: jobs.DashboardPolicy, Handler: p.dashboard,
		},
		{
			Path: "/readyz", Title: "Readiness", About: "What this process needs to be ready, what confines the inspection of files, and how far the replica is behind.",
			Open: true, Text: true, Handler: rest.New(rest.Config{
				Logger: p.log, Draining: &p.draining, Checks: p.readinessChecks(), Confinement: p.inspection.confinement,
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

// pprofHandler serves all profiles but the command line, which may hold a password.
func pprofHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle(pprofPath, http.RedirectHandler(pprofPath+"/", http.StatusFound)) // the list's links are relative
	mux.HandleFunc(pprofPath+"/", pprof.Index)
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
