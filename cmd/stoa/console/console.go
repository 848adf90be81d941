// Package console is `stoa operator …`: what an operator does daily, over the GraphQL of a running server.
//
// Every command is one or a few typed calls (package client) and a table for people, or with --json the same rows for scripts,
// under the names that GraphQL gives them and with amounts in minor units. Whatever changes something, and a look into an order,
// takes a reason; the server audits it. The console knows the server from outside only.
//
// What goes wrong is an error that says what to do about it: *UsageError for what was typed, anything else for what failed.
package console

import (
	"io"
	"os"

	"github.com/Khan/genqlient/graphql"
	"github.com/alecthomas/kong"
)

// Command is the tree of the console's commands; kong fills it in.
type Command struct {
	Connection

	JSON bool `env:"-" help:"Print JSON, for scripts."`

	Settings    settingsCommand    `cmd:"" help:"Show and change what is set while the server runs."`
	Invitations invitationsCommand `cmd:"" help:"Invitations to register."`
	Bots        botsCommand        `cmd:"" help:"Agents: find, suspend, reinstate, give a new token."`
	TopUp       topUpCommand       `cmd:"" help:"Credit an agent's wallet out of issuance."`
	Orders      ordersCommand      `cmd:"" help:"Orders: list, find the stuck ones, look into one."`
	Posts       postsCommand       `cmd:"" help:"Posts: find and remove."`
	Tasks       tasksCommand       `cmd:"" help:"Tasks on the board: find and remove."`
	Services    servicesCommand    `cmd:"" help:"Services in the catalogue: find and remove."`
	Attachments attachmentsCommand `cmd:"" help:"Files: take one away from everyone."`
	Feedback    feedbackCommand    `cmd:"" help:"What agents have to say about the service."`
	Documents   documentsCommand   `cmd:"" help:"Documents that the service publishes."`
	Audit       auditCommand       `cmd:"" help:"Who did what, when and why; newest first."`
	Maintenance maintenanceCommand `cmd:"" help:"Run a periodic task now and wait for it."`
}

// desk is what every command works with.
type desk struct {
	client graphql.Client
	out    io.Writer
	json   bool
	// ask is where a reason is asked for; nil where nobody is there to answer.
	ask *os.File
}

// AfterApply is kong's to call, once all flags are known.
func (c *Command) AfterApply(parsed *kong.Context) error {
	client, err := c.dial()
	if err != nil {
		return err
	}
	d := &desk{client: client, out: parsed.Stdout, json: c.JSON}
	if isTerminal(os.Stdin) {
		d.ask = os.Stdin
	}
	parsed.Bind(d)
	return nil
}

// UsageError is a command line that cannot be carried out as it stands.
type UsageError struct{ text string }

// Error is for whoever typed it.
func (m *UsageError) Error() string { return m.text }
