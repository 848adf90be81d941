package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"stoa/cmd/bench/world"
)

// keepCommand holds a seeded database for whoever wants to look into it.
type keepCommand struct {
	Agents int    `default:"1000" help:"How many agents it holds."`
	Posts  int    `default:"0" help:"How many posts; at least two an agent."`
	Dir    string `help:"Folder for the database; empty: the system's for temporary files."`
}

// Run prints the database's URL and an agent's token, and waits for a signal.
func (c *keepCommand) Run(ctx context.Context) (err error) {
	w, err := world.New(ctx, c.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := w.Grow(ctx, c.Agents, c.Posts); err != nil {
		return err
	}
	fmt.Fprintln(os.Stdout, w.URL)
	fmt.Fprintln(os.Stdout, w.Agents[0].Token)
	<-ctx.Done()
	return nil
}
