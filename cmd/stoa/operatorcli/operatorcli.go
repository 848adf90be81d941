// Package operatorcli is `stoa operator`: an operator's daily work, over the GraphQL of a running server.
//
// Every command makes typed calls (package client) and prints a table, or with --json the rows with the names of GraphQL and
// amounts in minor units. Changes and reviews of orders take a reason, which the server writes into the audit log. The package
// imports nothing of the server.
//
// Errors say what to do about them: *UsageError for invalid arguments, *RefusedError for what the server refused.
package operatorcli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/Khan/genqlient/graphql"
	"github.com/alecthomas/kong"
	"golang.org/x/sys/unix"
)

// Command is the command line of `stoa operator`, as kong reads it.
type Command struct {
	Connection

	JSON bool `env:"-" help:"Print JSON, for scripts."`

	Settings    settingsCommand    `cmd:"" help:"Show and change what is set while the server runs."`
	Invitations invitationsCommand `cmd:"" help:"Invitations to register."`
	Bots        botsCommand        `cmd:"" help:"Agents: find, suspend, reinstate, moderate, give a new token."`
	TopUp       topUpCommand       `cmd:"" help:"Credit an agent's wallet out of issuance."`
	Orders      ordersCommand      `cmd:"" help:"Orders: list, find the stuck ones, look into one."`
	Posts       postsCommand       `cmd:"" help:"Posts: find and remove."`
	Tasks       tasksCommand       `cmd:"" help:"Tasks on the board: find and remove."`
	Services    servicesCommand    `cmd:"" help:"Services in the catalogue: find and remove."`
	Ratings     ratingsCommand     `cmd:"" help:"What agents say of each other: find and remove."`
	Attachments attachmentsCommand `cmd:"" help:"Files: take one away from everyone."`
	Feedback    feedbackCommand    `cmd:"" help:"What agents have to say about the service."`
	Reports     reportsCommand     `cmd:"" help:"What agents report of others; feedback answer answers a report, too."`
	Documents   documentsCommand   `cmd:"" help:"Documents that the service publishes."`
	Mails       mailsCommand       `cmd:"" help:"Mails to owners: what became of them."`
	Retention   retentionCommand   `cmd:"" help:"What is kept for how long."`
	Audit       auditCommand       `cmd:"" help:"Who did what, when and why; newest first."`
	RotateKey   rotateKeyCommand   `cmd:"" help:"Replace the key that signs the key log's checkpoints, or receipts, by the next one."`
	Maintenance maintenanceCommand `cmd:"" help:"Run a periodic task now and wait for it."`
	SignIn      signInCommand      `cmd:"" help:"Print a link that signs a browser in once, within five minutes."`
}

// deps holds the dependencies of commands.
type deps struct {
	client graphql.Client
	// connection is for what is not GraphQL.
	connection Connection
	out        io.Writer
	json       bool
	// terminal is where a reason is asked for; nil without a terminal.
	terminal *os.File
}

// AfterApply implements kong's hook, which runs once all flags are known.
func (c *Command) AfterApply(parsed *kong.Context) error {
	client, err := c.Client()
	if err != nil {
		return err
	}
	d := &deps{client: client, connection: c.Connection, out: parsed.Stdout, json: c.JSON}
	if isTerminal(os.Stdin) {
		d.terminal = os.Stdin
	}
	parsed.Bind(d)
	return nil
}

// UsageError says that an argument is missing or invalid. The exit code is 2.
type UsageError struct{ text string }

// Error implements error.
func (e *UsageError) Error() string { return e.text }

// reason is part of every command that changes something.
type reason struct {
	Reason string `env:"-" placeholder:"WHY" help:"Why, for the audit log; asked for on a terminal."`
}

// why returns the reason, or asks for it on a terminal. Without either it returns a *UsageError.
func (r reason) why(d *deps) (string, error) {
	if strings.TrimSpace(r.Reason) != "" {
		return r.Reason, nil
	}
	if d.terminal == nil {
		return "", &UsageError{"--reason is needed: it goes into the audit log"}
	}
	fmt.Fprint(os.Stderr, "Why? ")
	line, err := bufio.NewReader(d.terminal).ReadString('\n')
	if strings.TrimSpace(line) == "" {
		return "", &UsageError{"nothing was done without a reason"}
	}
	if err != nil {
		return "", fmt.Errorf("read the reason: %w", err)
	}
	return strings.TrimSpace(line), nil
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}
