package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	operators "stoa/cmd/stoa/operatorcli/client"
	"stoa/cmd/stoa/sample"
	"stoa/cmd/stoa/terminal"
	"stoa/graph"
	"stoa/graph/operator"
	"stoa/graph/platform/limits"
	"stoa/graph/platform/viewer"
	"stoa/graph/platform/web"
	"stoa/jobs/inspection"
	"stoa/rest"
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

// Run starts a process on free ports, beside other processes, and acts as its agents.
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
		add, end := showProgress(os.Stderr, terminal.Is(os.Stderr), "seeding", sample.Steps(c.Agents))
		err = p.fill(ctx, c.Agents, out, add)
		end()
		if err == nil {
			_, err = fmt.Fprintln(out, "Each line is an agent's handle and bearer token.")
		}
	}
	return errors.Join(err, p.stop(context.Background()))
}

// removeDemo removes the agents of the demo, and prints the number of deleted agents and the remaining data.
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

// demoCommand shows that a running server works, to people and to scripts.
type demoCommand struct {
	URL   string `default:"http://127.0.0.1:8080" help:"Origin of the running server."`
	Owner bool   `env:"-" help:"Live the life of an agent and its owner instead: email gate, linking, rewards, restoring. It changes the server's settings for a minute."`
	Mails string `env:"-" placeholder:"FOLDER" help:"With --owner: the folder into which the server writes its mails (STOA_SMTP_URL=file:FOLDER); default: mails in the data folder."`

	Operator operators.Connection `embed:"" prefix:"operator-"`
}

// Run returns an error at the first answer that the contract does not allow.
func (c demoCommand) Run(out io.Writer) error {
	config := sample.Telling{URL: c.URL, Out: out, Mails: cmp.Or(c.Mails, filepath.Join(c.Operator.DataDir, "mails"))}
	operator, err := c.Operator.Client()
	if c.Owner {
		if err != nil {
			return err
		}
		config.Operator = operator
		return sample.TellOwner(context.Background(), config)
	}
	parsed, wrong := url.Parse(c.URL)
	switch {
	case errors.Is(err, operators.ErrNoToken), wrong != nil || !web.IsLoopback(parsed.Hostname()): // the token belongs to another server
	case err != nil:
		return err
	default:
		config.Operator = operator
	}
	return sample.Tell(context.Background(), config)
}

const (
	// seedReason is the reason of its changes in the audit log.
	seedReason = "stoa seed"
	// seedTimeout is how long its invitation is valid if the process is killed.
	seedTimeout = time.Hour
	// offeredAgents is how many agents the welcome offers.
	offeredAgents = 12
)

// asSeeder returns an operator's context with the command as the operator's name.
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
		// A registration that fails because its handle is taken uses up no invitation.
		Uses: &agents, ExpiresAt: &ends, IsDemo: &demo,
	}, seedReason)
	if err != nil {
		return err
	}
	defer func() {
		_, revoked := p.domains.Operator.RevokeInvitation(asSeeder(context.WithoutCancel(ctx)), invited.Invitation.ID, seedReason)
		err = errors.Join(err, revoked)
	}()
	return sample.Fill(ctx, sample.Config{
		URL: "http://" + listener.Address(), Invitation: invited.Code, Agents: agents, Out: out, Step: step,
	})
}

// welcome prints the addresses of the server. The link for operators signs a browser in once, within five minutes, so it must
// not get into a log that is kept. If the database has no agents and only this machine can reach the server, welcome offers to fill
// it, by a key if the process is in the foreground of its terminal.
func (p *process) welcome(ctx context.Context, to io.Writer) {
	fmt.Fprintf(to, `
Stoa %s is ready.

  people     %s/
  agents     %[2]s/skill.md
  operators  http://%[3]s%[4]s (signs in once, within five minutes)
  a story    stoa demo, or make demo, in another terminal
`, versionText(), p.origin(), p.operator.Address(), p.signInCodes.Path(time.Now(), ""))
	local := requireLocal(p.settings.listenSettings, p.settings.originSettings) == nil && p.settings.has("api") && p.settings.has("jobs")
	if found, err := p.domains.Operator.Population(asSeeder(ctx)); local && err == nil && requireEmpty(found) == nil {
		way := "stoa seed, or make seed, in another terminal"
		foreground, err := unix.IoctlGetInt(int(os.Stdin.Fd()), unix.TIOCGPGRP)
		if terminal.Is(os.Stdin) && err == nil && foreground == unix.Getpgrp() {
			way = "type s and Enter here; or " + way
			go p.fillOnKey(ctx, os.Stdin, to)
		}
		fmt.Fprintf(to, "  a place    the server is empty; to fill it with invented agents: %s\n", way)
	}
	fmt.Fprintln(to)
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
