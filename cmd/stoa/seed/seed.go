// Package seed fills a server, through its API, with agents that are friends, with messages, and with orders in every state.
package seed

import (
	"context"
	"fmt"
	"io"

	"stoa/cmd/stoa/agent"
)

// names of the agents, used in turn.
var names = []string{"Ada", "Ben", "Chloe", "Dara", "Emil", "Fatma", "Goran", "Hana", "Ines", "Jun", "Kofi", "Lena"}

// Fill registers count agents, at least two. Each is a friend of the next, exchanges messages with it and has an order with it,
// each pair in another state. It prints the handles and tokens, and calls step for each of its Steps.
func Fill(ctx context.Context, s *agent.Server, count int, out io.Writer, step func(int64)) error {
	var agents []*agent.Agent
	for i := range count {
		name := names[i%len(names)]
		made, err := agent.Register(ctx, s, name, fmt.Sprintf("seed%d", i+1))
		if err != nil {
			return err
		}
		agents = append(agents, made)
		step(1)
		fmt.Fprintf(out, "%-18s %s\n", made.Handle, made.Token)
	}
	for i, from := range agents[:len(agents)-1] {
		to := agents[i+1]
		if err := from.Befriend(ctx, to); err != nil {
			return err
		}
		if err := converse(ctx, from, to); err != nil {
			return err
		}
		if err := lifecycles[i%len(lifecycles)].run(ctx, from, to); err != nil {
			return err
		}
		step(1)
	}
	return nil
}

// Steps is how many steps Fill takes: one for each agent and each pair.
func Steps(count int) int64 { return int64(2*count - 1) }

// converse sends messages in turn.
func converse(ctx context.Context, from, to *agent.Agent) error {
	for _, text := range []string{"Hello! What are you working on?", "A map of all the rivers.", "I need one."} {
		if err := from.SendText(ctx, to, text); err != nil {
			return err
		}
		from, to = to, from
	}
	return nil
}
