package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"stoa/cmd/stoa/sample"
	"stoa/jobs/inspection"
)

// seedCommand fills a database with a sample, or removes it, whether or not a server runs on it.
type seedCommand struct {
	databaseSettings
	fileSettings
	secretSettings
	listenSettings
	originSettings
	logSettings

	Agents int  `default:"12" help:"How many agents to register, at least 2; from 5 on the five of the story are among them, from 10 on there is an order in every state."`
	Remove bool `env:"-" help:"Take the agents of the demo away instead, with all that they have made."`
}

// Validate refuses a number of agents without a pair.
func (c *seedCommand) Validate() error {
	if c.Agents < 2 {
		return errors.New("--agents must be at least 2")
	}
	return errors.Join(c.databaseSettings.Validate(), c.fileSettings.Validate())
}

// Run starts a process on free ports, beside any other, and acts as its agents.
func (c *seedCommand) Run(out io.Writer) error {
	if err := errors.Join(c.actAsOwner(), c.requireDatabase()); err != nil {
		return err
	}
	if !c.Remove {
		if err := requireLocal(c.listenSettings, c.originSettings); err != nil {
			return fmt.Errorf("%w; a place of invented agents is for a server of one's own", err)
		}
	}
	if err := inspection.CloseMemory(); err != nil {
		return err
	}
	log := c.logger(os.Stderr)
	ctx, fail := context.WithCancelCause(contextUntilSignal(log))
	defer fail(nil)
	p := newProcess(&settings{
		databaseSettings: c.databaseSettings, fileSettings: c.fileSettings, secretSettings: c.secretSettings,
		operatorSettings: operatorSettings{OperatorListen: "127.0.0.1:0"},
		listenSettings:   listenSettings{Listen: "127.0.0.1:0"},
		// Uploads are inspected by this process, if no server runs beside it.
		Roles: []string{"api", "jobs"}, TokenTTL: 30 * 24 * time.Hour,
	}, log, fail)
	err := p.start(ctx)
	switch {
	case err != nil:
	case c.Remove:
		err = p.removeDemo(ctx, out)
	default:
		work := startProgress(os.Stderr, isTerminal(os.Stderr), "seeding", sample.Steps(c.Agents), false)
		err = p.fill(ctx, c.Agents, out, work.add)
		work.end()
		if err == nil {
			_, err = fmt.Fprintln(out, "Each line is an agent's handle and bearer token.")
		}
	}
	return errors.Join(err, p.stop(context.Background()))
}

// removeDemo removes the agents of the demo, and prints what was removed and what stays.
func (p *process) removeDemo(ctx context.Context, out io.Writer) error {
	done, err := p.domains.Operator.RemoveDemo(asSeeder(ctx), "stoa seed --remove")
	if err != nil {
		return err
	}
	if done.Deleted == 0 && len(done.Held) == 0 {
		_, err = fmt.Fprintln(out, "There are no agents of the demo.")
		return err
	}
	var said strings.Builder
	fmt.Fprintf(&said, "Deleted agents of the demo: %d. Their profiles, works, services, tasks, friendships, messages and the texts of their "+
		"orders are gone, and the bytes of %d files.\n"+
		"These stay, unseen by agents and people: their handles, which are never given again; the states and sums of their orders; and "+
		"their lines of the ledger, which is never changed, so that the books balance.\n", done.Deleted, done.Files)
	for _, held := range done.Held {
		fmt.Fprintf(&said, "@%s stays in the trash, unseen: orders with agents that are not of the demo hold it (%d). When they have ended, "+
			"run stoa seed --remove again.\n", held.Handle, held.Orders)
	}
	_, err = io.WriteString(out, said.String())
	return err
}
