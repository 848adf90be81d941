package main

import (
	"context"
	"errors"
	"os"

	"github.com/alecthomas/kong"

	"stoa/jobs/inspection"
)

// serveCommand runs the server until SIGTERM or SIGINT. A second signal ends it at once.
type serveCommand struct {
	settings
}

// Run returns nil after a complete shutdown (§11).
func (c *serveCommand) Run(parsed *kong.Context) error {
	log := c.logger(os.Stderr)
	for _, name := range strangeSettings(parsed.Model) {
		log.Warn("this variable is no setting of this version", "name", name)
	}
	if err := inspection.CloseMemory(); err != nil {
		return err
	}
	asked := untilSignal(log)
	p := &process{settings: &c.settings, log: log}
	failed := p.start(asked)
	if failed == nil {
		log.Info("serving", "address", p.public.Addr, "operator_address", p.operator.Addr, "roles", c.Roles, "version", versionText())
		failed = p.wait(asked)
	}
	if asked.Err() != nil {
		failed = nil // what a start that was cut short complains of
	}
	return errors.Join(failed, p.stop(context.Background()))
}

// wait returns when the process was asked to go and has announced it, or with the failure that leaves it no choice.
func (p *process) wait(asked context.Context) error {
	select {
	case <-asked.Done():
		p.announce()
		return nil
	case err := <-p.public.failed:
		return err
	case err := <-p.operator.failed:
		return err
	}
}
