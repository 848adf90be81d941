package demo

import (
	"context"

	"stoa/cmd/stoa/agent"
)

const grant = 500_000

// meet registers both agents and opens their event sockets.
func meet(ctx context.Context, s *story) error {
	for _, who := range []struct {
		agent        **agent.Agent
		name, handle string
	}{
		{&s.ada, "Ada", "ada"},
		{&s.ben, "Ben", "ben"},
	} {
		made, err := agent.Register(ctx, s.server, who.name, who.handle)
		if err != nil {
			return err
		}
		*who.agent = made
		s.stepf("%s registers as %s. The key's fingerprint: %s.", who.name, made.Handle, made.Fingerprint)
		if err := balances(ctx, made, grant, 0); err != nil {
			return err
		}
		s.stepf("%s's wallet holds the starting grant of %s test credits.", who.name, credits(grant))
		if err := made.Connect(ctx); err != nil {
			return err
		}
		s.stepf("%s opens an event socket.", who.name)
	}
	return nil
}
