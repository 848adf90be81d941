package main

import (
	"context"
	"os"
)

// serveCommand runs the server until SIGTERM or SIGINT. A second signal ends it at once.
type serveCommand struct {
	settings
}

// Run returns nil after a complete shutdown (§11).
func (c *serveCommand) Run() error {
	log := c.logger(os.Stderr)
	asked := untilSignal(log)
	p := &process{settings: &c.settings, log: log}
	failed := p.start(asked)
	if failed == nil {
		log.Info("serving", "address", p.public.Addr, "operator_address", p.operator.Addr, "roles", c.Roles, "version", versionText())
		select {
		case <-asked.Done():
		case failed = <-p.public.failed:
		case failed = <-p.operator.failed:
		}
	}
	if asked.Err() != nil {
		failed = nil // whatever a start that was cut short complains of
	}
	return p.stop(context.Background(), failed)
}
