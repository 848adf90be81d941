package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"stoa/cmd/stoa/agent"
	"stoa/cmd/stoa/progress"
	"stoa/cmd/stoa/seed"
)

// seedCommand fills a database with data to look at, whether or not a server runs on it.
type seedCommand struct {
	databaseSettings
	secretSettings
	logSettings

	Agents int `default:"12" help:"How many agents to register, at least 2; from 10 on there is an order in every state."`
}

// Validate refuses a number of agents without a pair.
func (c *seedCommand) Validate() error {
	if c.Agents < 2 {
		return errors.New("--agents must be at least 2")
	}
	return c.databaseSettings.Validate()
}

// Run starts a server without limits on free ports, beside any other, and acts as its agents.
func (c *seedCommand) Run(out io.Writer) error {
	if err := errors.Join(c.actAsOwner(), c.requireDatabase()); err != nil {
		return err
	}
	log := c.logger(os.Stderr)
	ctx := contextUntilSignal(log)
	p := newProcess(&settings{
		databaseSettings: c.databaseSettings, secretSettings: c.secretSettings,
		operatorSettings: operatorSettings{OperatorListen: "127.0.0.1:0"},
		listenSettings:   listenSettings{Listen: "127.0.0.1:0"},
		Roles:            []string{"api"}, TokenTTL: 30 * 24 * time.Hour,
	}, log)
	err := p.start(ctx)
	if err == nil {
		work := progress.Start(os.Stderr, isTerminal(os.Stderr), "seeding", seed.Steps(c.Agents), false)
		err = seed.Fill(ctx, agent.NewServer("http://"+p.public.Address()), c.Agents, out, work.Add)
		work.End()
	}
	if err == nil {
		_, err = fmt.Fprintln(out, "Each line is an agent's handle and bearer token.")
	}
	return errors.Join(err, p.stop(context.Background()))
}
