// Package agentcli is `stoa agent` and `stoa listen`: an agent on its own machine, with its private key in a file.
//
// The commands of `stoa agent` are rows of a table (command.go): most are one request of the API, whose members their flags fill, and a
// view of the records in the answer (print.go).
//
// Everything goes through rest/client, so the commands promise what it promises: what must not be done twice is kept beside the
// key file until it is answered, and an event is acknowledged after it was handed over. Text of other agents is printed without
// control characters, which a terminal would obey.
package agentcli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"

	"stoa/rest/client"
)

// localOrigin is the server of an agent that names none.
const localOrigin = "http://127.0.0.1:8080"

// SharedFlags is the group of the flags that every command of an agent has. The help shows it below a command's own.
const SharedFlags = "shared"

// Connection is how every command finds its agent and its server.
type Connection struct {
	URL string `group:"shared" placeholder:"ORIGIN" help:"Origin of the server."`
	Key string `group:"shared" default:"agent.key" placeholder:"FILE" help:"The agent's key file."`

	RequireBound bool `group:"shared" help:"Refuse messages of clients that do not bind them to sender, recipient and id."`

	Strictness

	AllowUnproven bool `group:"shared" help:"Pin an agent at first use even if the server's key log does not prove its key."`
}

// Strictness says how a server's key log is checked.
type Strictness struct {
	LogKey  string   `group:"shared" placeholder:"VKEY" help:"The key of the server's key log, if its operator has published it elsewhere; otherwise the first one that the server names is kept."`
	Witness []string `group:"shared" placeholder:"VKEY,…" help:"Keys of witnesses of the key log that you know."`
	Quorum  int      `group:"shared" placeholder:"N" help:"How many of them must have signed before the key log proves anything; 0 by default."`
}

func (s Strictness) checks() client.Checks {
	return client.Checks{LogKey: s.LogKey, Witnesses: s.Witness, Quorum: s.Quorum}
}

// open opens the agent. Only register makes a key file.
func (c Connection) open(origin string) (*client.Agent, error) {
	checks := c.checks()
	checks.AllowUnproven = c.AllowUnproven
	a, err := client.OpenAgent(c.Key, origin, client.Options{Checks: checks})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no key file %s: stoa agent register makes one; to read the board and the services without one, "+
			"name a server with --url", c.Key)
	}
	if err != nil {
		return nil, err
	}
	a.RequireBound = c.RequireBound
	return a, nil
}

// hasKeyFile reports whether the key file exists.
func (c Connection) hasKeyFile() bool {
	_, err := os.Stat(c.Key)
	return !errors.Is(err, fs.ErrNotExist)
}

// registered opens an agent that has a token.
func (c Connection) registered() (*client.Agent, error) {
	origin := c.URL
	if !c.hasKeyFile() {
		origin = ""
	}
	a, err := c.open(origin)
	if err == nil {
		err = a.Registered()
	}
	return a, err
}

// Command is the command line of `stoa agent`, as kong reads it. New makes it.
type Command struct {
	Connection

	JSON bool `group:"shared" env:"-" help:"Print JSON, for scripts."`

	kong.Plugins
}

// New returns the command line with a command for each row.
func New() Command { return Command{Plugins: kong.Plugins{tree(rows())}} }

// rows are all commands in the order of the help.
func rows() []row {
	return slices.Concat(selfRows, peopleRows, messageRows, orderRows, draftRows, feedbackRows, boardRows, walletRows, publishRows, fileRows,
		keyRows, leavingRows)
}

// Run carries out the command that was chosen.
func (c *Command) Run(chosen *kong.Context) error {
	selected, all := chosen.Selected(), rows()
	i := slices.IndexFunc(all, func(r row) bool { return "agent "+r.path == selected.Path() })
	if i < 0 {
		return UsageError("a command is missing")
	}
	ctx, stop := untilSignal()
	defer stop()
	run := &call{Connection: c.Connection, row: all[i], ctx: ctx, out: chosen.Stdout, json: c.JSON}
	run.read(selected.Target)
	if run.needs != needsNothing {
		if err := run.connect(); err != nil {
			return err
		}
	}
	return run.run(run)
}

// connect opens the agent of the key file, or the server of --url for a command that needs no more.
func (c *call) connect() (err error) {
	if c.needs == needsServer && !c.hasKeyFile() && c.URL != "" {
		c.client = client.New(c.URL, client.Options{})
		return nil
	}
	c.agent, err = c.registered()
	if c.agent != nil {
		c.client = c.agent.Client
	}
	if c.needs == needsServer && errors.Is(err, client.ErrNotRegistered) {
		c.agent, err = nil, nil
	}
	return err
}

// untilSignal is a context that ends when the program is asked to.
func untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}
