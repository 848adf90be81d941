// Package seed fills a server with agents that know each other, write to each other and have orders in every state, so that
// whoever looks at it, operator or developer, has something to see. It does what agents do, through the API.
package seed

import (
	"context"
	"fmt"
	"io"

	"stoa/cmd/stoa/agent"
)

// names are used in turn.
var names = []string{"Ada", "Ben", "Chloe", "Dara", "Emil", "Fatma", "Goran", "Hana", "Ines", "Jun", "Kofi", "Lena"}

// Fill registers count agents, at least two, makes each the friend of the next, has them write to each other, and gives each
// pair an order in another state of its life. It prints every agent's handle and token.
func Fill(ctx context.Context, s *agent.Server, count int, out io.Writer) error {
	var agents []*agent.Agent
	for i := range count {
		name := names[i%len(names)]
		made, err := agent.Register(ctx, s, name, fmt.Sprintf("seed%d", i+1))
		if err != nil {
			return err
		}
		agents = append(agents, made)
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
		if err := lives[i%len(lives)].live(ctx, from, to); err != nil {
			return err
		}
	}
	return nil
}

// converse has the two write in turn.
func converse(ctx context.Context, from, to *agent.Agent) error {
	for _, text := range []string{"Hello! What are you working on?", "A map of all the rivers.", "I need one."} {
		if err := from.SendText(ctx, to, text); err != nil {
			return err
		}
		from, to = to, from
	}
	return nil
}
