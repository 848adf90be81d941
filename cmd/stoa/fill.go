package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"stoa/cmd/stoa/sample"
	"stoa/graph"
	"stoa/graph/operator"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/rest"
)

const (
	// seedReason is the reason of its changes in the audit log.
	seedReason = "stoa seed"
	// seedTimeout is how long its invitation is valid if the process is killed.
	seedTimeout = time.Hour
	// offeredAgents is how many agents the welcome offers.
	offeredAgents = 12
)

// asSeeder is an operator's context with the command as its name.
func asSeeder(ctx context.Context) context.Context {
	return viewer.With(ctx, viewer.Viewer{Kind: viewer.Operator, Name: seedReason})
}

// requireEmpty returns an error if there are agents that are not deleted.
func requireEmpty(found operator.Population) error {
	switch {
	case found.Others > 0:
		return fmt.Errorf("there are agents on this server (%d), and invented ones do not belong among them: seed an empty database", found.Others)
	case found.Demo > 0:
		return fmt.Errorf("the agents of the demo are here already (%d); stoa seed --remove takes them away", found.Demo)
	}
	return nil
}

// fill seeds the database through a listener on the loopback that has no limits, which is closed afterwards. Nothing is done on a
// database with agents.
func (p *process) fill(ctx context.Context, agents int, out io.Writer, step func(int64)) (err error) {
	p.filling.Add(1)
	defer p.filling.Done()
	found, err := p.domains.Operator.Population(asSeeder(ctx))
	if err == nil {
		err = requireEmpty(found)
	}
	if err != nil {
		return err
	}
	unlimited, err := p.graphConfig(p.sockets)
	if err != nil {
		return err
	}
	unlimited.Quotas, unlimited.Metrics = limits.Quotas{}, nil // the process's own domains count
	config := p.restConfig()
	config.Graph, config.Events, config.RequestsPerAddressPerSecond = graph.New(unlimited), p.sockets, 0
	listener, err := p.listen(ctx, "seed", "127.0.0.1:0", operatorShare, rest.New(config))
	if err != nil {
		return err
	}
	defer func() {
		err = errors.Join(err, withTimeout(context.WithoutCancel(ctx), requestsTimeout, listener.Shutdown))
	}()
	ends, demo := time.Now().Add(seedTimeout), true
	invited, err := p.domains.Operator.CreateInvitation(asSeeder(ctx), operator.InvitationInput{
		// A handle that is taken costs no place.
		Uses: &agents, ExpiresAt: &ends, IsDemo: &demo,
	}, seedReason)
	if err != nil {
		return err
	}
	defer func() {
		_, revoked := p.domains.Operator.RevokeInvitation(asSeeder(context.WithoutCancel(ctx)), invited.Invitation.ID, seedReason)
		err = errors.Join(err, revoked)
	}()
	return sample.Fill(ctx, sample.Filling{
		Config: sample.Config{URL: "http://" + listener.Address(), Invitation: invited.Code}, Agents: agents, Out: out, Step: step,
	})
}

// welcome prints the addresses of the server. The link for operators signs a browser in once, within five minutes, so it must
// not get into a log that is kept. If the database is empty, welcome offers to fill it.
func (p *process) welcome(ctx context.Context, to io.Writer) {
	fmt.Fprintf(to, `
Stoa %s is ready.

  people     %s/
  agents     %[2]s/skill.md
  operators  %[3]s (signs in once, within five minutes)
  a story    stoa demo, or make demo, in another terminal
`, versionText(), p.origin(), p.signInLink())
	if p.offersPlace(ctx) {
		way := "stoa seed, or make seed, in another terminal"
		if canAsk(os.Stdin) {
			way = "type s and Enter here; or " + way
			go p.fillOnKey(ctx, os.Stdin, to)
		}
		fmt.Fprintf(to, "  a place    the server is empty; to fill it with invented agents: %s\n", way)
	}
	fmt.Fprintln(to)
}

// offersPlace reports whether the welcome offers to fill the database: it has no agents, and only this machine can reach the server.
func (p *process) offersPlace(ctx context.Context) bool {
	if requireLocal(p.settings.listenSettings, p.settings.originSettings) != nil || !p.settings.has("api") || !p.settings.has("jobs") {
		return false
	}
	found, err := p.domains.Operator.Population(asSeeder(ctx))
	return err == nil && requireEmpty(found) == nil
}

// canAsk reports whether a file is the terminal of this process, and the process in its foreground.
func canAsk(f *os.File) bool {
	if !isTerminal(f) {
		return false
	}
	foreground, err := unix.IoctlGetInt(int(f.Fd()), unix.TIOCGPGRP)
	return err == nil && foreground == unix.Getpgrp()
}

// fillOnKey waits for an s on a terminal, and fills the database then. It returns when the terminal ends.
func (p *process) fillOnKey(ctx context.Context, from io.Reader, to io.Writer) {
	// A process that is sent to the background later gets an error from its terminal, and is not stopped.
	signal.Ignore(syscall.SIGTTIN)
	for lines := bufio.NewScanner(from); lines.Scan() && ctx.Err() == nil; {
		if strings.TrimSpace(lines.Text()) != "s" {
			continue
		}
		began := time.Now()
		fmt.Fprintln(to, "Filling the place …")
		if err := p.fill(ctx, offeredAgents, io.Discard, func(int64) {}); err != nil {
			fmt.Fprintln(to, "stoa:", err)
			continue
		}
		fmt.Fprintf(to, "The place is there, after %.0f s: %s/\nstoa seed --remove takes it away.\n", time.Since(began).Seconds(), p.origin())
		return
	}
}
