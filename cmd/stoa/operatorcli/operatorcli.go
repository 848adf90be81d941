// Package operatorcli is `stoa operator`: an operator's daily work, over the GraphQL of a running server.
//
// The commands are made from the schema, as the console is: a list and a record of each section of the console, and each procedure with
// its arguments as flags (schema.go). A table gives the common ones shorter names (names.go). Rows and results are printed for people,
// or with --json with the names of GraphQL and amounts in minor units. Every procedure takes a reason, which the server writes into the
// audit log.
//
// Errors are those of package client.
package operatorcli

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
	"golang.org/x/sys/unix"

	"stoa/cmd/stoa/operatorcli/client"
)

// Command is the command line of `stoa operator`, as kong reads it. New makes it.
type Command struct {
	client.Connection

	JSON bool `env:"-" help:"Print JSON, for scripts."`

	kong.Plugins
}

// New returns the command line with a command for each list and procedure of the schema.
func New() Command { return Command{Plugins: kong.Plugins{tree()}} }

// deps holds the dependencies of commands.
type deps struct {
	*client.Client

	out  io.Writer
	json bool
	// terminal is where a reason is asked for; nil without a terminal.
	terminal *os.File
}

// Run carries out the command that was chosen, whichever it is.
func (c *Command) Run(chosen *kong.Context) error {
	asked, err := c.Client()
	if err != nil {
		return err
	}
	d := &deps{Client: asked, out: chosen.Stdout, json: c.JSON}
	if isTerminal(os.Stdin) {
		d.terminal = os.Stdin
	}
	selected := chosen.Selected()
	done, ok := find(selected.Path())
	if !ok {
		return &client.UsageError{Text: "a command is missing"}
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

// ask carries out an operation without a type for its data.
func (d *deps) ask(document string, variables map[string]any) (map[string]any, error) {
	var data map[string]any
	err := d.Ask(context.Background(), document, variables, &data)
	return data, err
}

// why returns the reason, or asks for it on a terminal. Without either it returns a *client.UsageError.
func (d *deps) why(given string) (string, error) {
	if strings.TrimSpace(given) != "" {
		return given, nil
	}
	if d.terminal == nil {
		return "", &client.UsageError{Text: "--reason is needed: it goes into the audit log"}
	}
	fmt.Fprint(os.Stderr, "Why? ")
	line, err := bufio.NewReader(d.terminal).ReadString('\n')
	if strings.TrimSpace(line) == "" {
		return "", &client.UsageError{Text: "nothing was done without a reason"}
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
