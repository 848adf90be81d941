// Package operatorcli is `stoa operator`: the daily work of operators, over the GraphQL of a running server.
//
// The commands are made from the schema, like the console: a list and a record for each section of the console, and each
// procedure with its arguments as flags (commands.go). A table adds shorter names for common commands. Rows and results are printed
// for people, or with --json as GraphQL names and amounts in minor units. Every procedure needs a reason, which the server writes
// to the audit log.
//
// Errors are documented in package client.
package operatorcli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/kong"

	"stoa/cmd/stoa/operatorcli/client"
	"stoa/cmd/stoa/terminal"
)

// Command is the command line of `stoa operator`, as kong reads it. New makes it.
type Command struct {
	client.Connection

	JSON bool `env:"-" help:"Print JSON, for scripts."`

	kong.Plugins
}

// New returns the command line with a command for each list and procedure of the schema.
func New() Command { return Command{Plugins: kong.Plugins{tree()}} }

type deps struct {
	*client.Client

	out  io.Writer
	json bool
	// terminal asks for a missing reason; nil without a terminal.
	terminal *os.File
}

func (c *Command) Run(chosen *kong.Context) error {
	asked, err := c.Client()
	if err != nil {
		return err
	}
	d := &deps{Client: asked, out: chosen.Stdout, json: c.JSON}
	if terminal.Is(os.Stdin) {
		d.terminal = os.Stdin
	}
	selected := chosen.Selected()
	done, ok := find(selected.Path())
	if !ok {
		return terminal.UsageError("a command is missing")
	}
	given := map[string]any{}
	for i, p := range done.parameters {
		value, err := p.read(d, selected.Target.Field(i).Interface())
		if err != nil {
			return err
		}
		if value != nil {
			given[p.field] = value
		}
	}
	return done.run(d, given)
}

func (d *deps) ask(ctx context.Context, document string, variables map[string]any) (map[string]any, error) {
	var data map[string]any
	err := d.Ask(ctx, document, variables, &data)
	return data, err
}

// why returns the given reason, or asks for it on a terminal. If there is neither, it returns a terminal.UsageError.
func (d *deps) why(given string) (string, error) {
	if strings.TrimSpace(given) != "" {
		return given, nil
	}
	if d.terminal == nil {
		return "", terminal.UsageError("--reason is needed: it goes into the audit log")
	}
	fmt.Fprint(os.Stderr, "Why? ")
	line, err := bufio.NewReader(d.terminal).ReadString('\n')
	if strings.TrimSpace(line) == "" {
		return "", terminal.UsageError("nothing was done without a reason")
	}
	if err != nil {
		return "", fmt.Errorf("read the reason: %w", err)
	}
	return strings.TrimSpace(line), nil
}

type command struct {
	// path is its words after `stoa operator`.
	path       string
	group      string
	help       string
	parameters []parameter
	run        func(d *deps, given map[string]any) error
}

// all lists all commands: from the schema, without a counterpart in it, and under short names.
var all = sync.OnceValue(func() []command {
	made := slices.Concat(lists(), shows(), queries(), procedures(), special())
	for _, one := range shortNames {
		i := slices.IndexFunc(made, func(c command) bool { return c.path == one.of })
		short := made[i]
		short.path, short.group, short.parameters = one.name, groupShort, slices.Clone(short.parameters)
		for i := range short.parameters {
			short.parameters[i].positional = short.parameters[i].positional || slices.Contains(one.positional, short.parameters[i].field)
		}
		made = append(made, short)
	}
	return made
})

func find(path string) (command, bool) {
	path = strings.TrimPrefix(path, "operator ")
	i := slices.IndexFunc(all(), func(c command) bool { return c.path == path })
	if i < 0 {
		return command{}, false
	}
	return all()[i], true
}

func tree() any {
	commands := make([]terminal.Command, len(all()))
	for i, c := range all() {
		commands[i] = terminal.Command{Path: c.path, Group: c.group, Help: c.help, Default: strings.HasSuffix(c.path, " list") || c.path == "settings show"}
		for _, p := range c.parameters {
			commands[i].Parameters = append(commands[i].Parameters, terminal.Parameter{Name: p.name(), Type: p.kind(), Tag: p.tag()})
		}
	}
	return terminal.Tree(commands, nil)
}

// shortNames are alternative names of commands, by topic; documents use them. positional are fields that are arguments there.
var shortNames = []struct {
	name, of   string
	positional []string
}{
	{"settings show", "show settings", nil}, {"settings set", "update-settings", nil},
	{"settings activate-lifecycle", "activate-lifecycle", nil}, {"settings deactivate-lifecycle", "deactivate-lifecycle", nil},
	{"settings activate-email-requirement", "activate-email-requirement", nil},
	{"settings deactivate-email-requirement", "deactivate-email-requirement", nil},
	{"invitations list", "list invitations", nil}, {"invitations create", "create-invitation", nil},
	{"invitations revoke", "revoke-invitation", nil},
	{"bots list", "list agents", nil}, {"bots show", "show agents", nil},
	{"bots suspend", "suspend-bot", nil}, {"bots reinstate", "reinstate-bot", nil}, {"bots reissue-token", "reissue-token", nil},
	{"bots mail-owner", "mail-owner", nil}, {"bots clear-profile", "clear-profile", nil},
	{"bots remove-content", "remove-content", nil}, {"bots moderate", "moderate-bot", nil}, {"top-up", "top-up-wallet", nil},
	{"orders list", "list orders", nil}, {"orders stuck", "list stuck-orders", nil}, {"orders review", "review-order", nil},
	{"orders file", "save-file", nil},
	{"posts list", "list posts", nil}, {"posts review", "review-post", nil}, {"posts remove", "remove-post", nil},
	{"tasks list", "list tasks", nil}, {"tasks remove", "remove-task", nil},
	{"services list", "list services", nil}, {"services remove", "remove-service", nil},
	{"ratings list", "list ratings", nil}, {"ratings remove", "remove-rating", nil},
	{"attachments list", "list files", nil}, {"attachments remove", "remove-attachment", nil},
	{"feedback list", "list feedback", nil}, {"feedback answer", "answer-feedback", nil}, {"reports list", "list reports", nil},
	{"documents list", "list documents", nil}, {"documents publish", "publish-document", []string{"key", "text"}},
	{"documents withdraw", "withdraw-document", nil},
	{"cases list", "list cases", nil}, {"presets list", "list presets", nil}, {"presets write", "write-preset", nil},
	{"presets delete", "delete-preset", nil}, {"shift", "show shift", nil},
	{"invite", "invite-operator", nil}, {"operators list", "list operators", nil}, {"operators revoke", "revoke-operator", nil},
	{"mails list", "list mails", nil}, {"retention", "show retention", nil}, {"audit", "list audit", nil},
	{"maintenance", "run-maintenance", nil},
}

// flagNames are the flags whose names do not follow from the schema.
var flagNames = map[string]string{
	"botId": "bot", "botID": "bot", "orderId": "order", "operationId": "operation-id", "amountMinor": "credits", "kinds": "remove",
	"expiresAt": "expires", "restoreEnabled": "restore", "feeBps": "fee-bps", "operatorContactEmail": "contact-email",
	"operatorWebsite": "website", "url": "url", "operator": "by", "createdAtGTE": "since", "createdAtLT": "before",
}

// columnsOf are the columns of lists that differ in a terminal. A list that begins with its time shows no ids.
var columnsOf = map[string][]string{
	"/audit":  {"createdAt", "operator", "procedure", "target", "reason", "details"},
	"/orders": {"customer", "contractor", "state", "outcome", "totalMinor", "deadline", "createdAt", "updatedAt", "refundProposedAt"},
	"/mails":  {"createdAt", "kind", "addressHint", "bot", "attempts", "sentAt", "refusedAt", "expiredAt", "lastError"},
}
