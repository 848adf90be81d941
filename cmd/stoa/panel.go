package main

import (
	"stoa/docs"
	"stoa/graph"
	"stoa/graph/server"
	"stoa/graph/server/playground"
	"stoa/jobs"
)

// openOperator is the operator listener in full.
func (p *process) openOperator(domains *graph.Graph, token string) error {
	dashboard, err := jobs.NewDashboard(jobs.Config{Graph: domains, DB: p.db, Logger: p.log})
	if err != nil {
		return err
	}
	p.dashboard = dashboard
	p.operator.Handle(server.New(server.Config{
		Graph: domains, Logger: p.log, Metrics: p.metrics, Tracer: p.traces.tracer(), OperatorToken: token,
		TrustedProxies: p.settings.TrustedProxies, Mounts: p.mounts(),
	}))
	return nil
}

// mounts are what the operator listener carries beside GraphQL, in the order of its index page.
func (p *process) mounts() []server.Mount {
	return append([]server.Mount{
		{
			Path: playground.Path, Title: "Playground", About: "Questions and procedures in GraphQL, with the schema at hand.",
			Policy: playground.Policy, Handler: playground.New(),
		},
		{
			Path: jobs.DashboardPath, Title: "Jobs", About: "What runs in the background; every change is audited.",
			Policy: jobs.DashboardPolicy, Handler: p.dashboard,
		},
		p.readiness(),
		{Path: docs.Path, Title: "Documentation", About: "Of this version, from the binary itself.", Handler: docs.New()},
	}, p.figures()...)
}
