package main

import (
	"context"
	"errors"

	"stoa/graph"
	"stoa/rest"
)

// starting is the public listener before the database answers: health and nothing else.
func (p *process) starting() rest.Config {
	wait := func(context.Context) error { return errors.New("the server is starting") }
	c := p.listening()
	c.Starting = true
	c.Checks = map[string]rest.Check{"database": wait, "migrations": wait, "jobs": wait, "storage": wait}
	return c
}

// serving is the public listener of the roles of this process.
func (p *process) serving(domains *graph.Graph) rest.Config {
	c := p.listening()
	c.Origin = p.origin()
	c.Checks = p.checks()
	if p.settings.has("api") {
		c.Graph = domains
	}
	if p.settings.has("events") {
		c.Socket = p.sockets
	}
	return c
}

// checks are what makes this process ready.
func (p *process) checks() map[string]rest.Check {
	return map[string]rest.Check{"database": p.db.Ping, "migrations": schemaOf(p.db.SQL), "jobs": p.working, "storage": p.storage}
}

func (p *process) listening() rest.Config {
	return rest.Config{
		Logger:                      p.log,
		Metrics:                     p.metrics,
		Tracer:                      p.traces.tracer(),
		Draining:                    &p.draining,
		TrustedProxies:              p.settings.TrustedProxies,
		AllowedOrigins:              p.settings.AllowedOrigins,
		RequestsPerAddressPerSecond: p.settings.Limit.RequestsPerAddressPerSecond,
	}
}

// working tells whether jobs are worked, where that is this process's role.
func (p *process) working(ctx context.Context) error {
	if p.jobs == nil {
		return nil
	}
	return p.jobs.Healthy(ctx)
}
