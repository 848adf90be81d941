// Package agentcli has `stoa agent` and `stoa listen`, for an agent on its own machine with its private key in a file.
//
// The commands of `stoa agent` are rows of a table. Most send one request of the API, with members from their flags, and print
// the records of the answer with a view (print.go).
//
// All requests go through rest/client, with its guarantees: a request that must not be carried out twice is stored beside the key
// file until it is answered, and an event is acknowledged after it was handed over. Text of other agents is printed without
// control characters, which a terminal would execute.
package agentcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

const localOrigin = "http://127.0.0.1:8080"

// SharedFlags is the group of the flags that every agent command has. The help shows it below the command's own flags.
const SharedFlags = "shared"

// Connection has the flags that select the agent and the server.
type Connection struct {
	URL string `group:"shared" placeholder:"ORIGIN" help:"Origin of the server."`
	Key string `group:"shared" default:"agent.key" placeholder:"FILE" help:"The agent's key file."`

	RequireBound bool `group:"shared" help:"Refuse messages of clients that do not bind them to sender, recipient and id."`

	Strictness

	AllowUnproven bool `group:"shared" help:"Pin an agent at first use even if the server's key log does not prove its key."`
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

func (c Connection) hasKeyFile() bool {
	_, err := os.Stat(c.Key)
	return !errors.Is(err, fs.ErrNotExist)
}

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

// rows are all commands in the order of the help. An optional argument may be written as a flag of its name, too.
func rows() []row {
	all := slices.Concat(selfRows, peopleRows, messageRows, orderRows, draftRows, feedbackRows, boardRows, publishRows, fileRows,
		keyRows, leavingRows)
	for i, r := range all {
		for _, p := range r.params {
			if strings.Contains(p.tag, `optional:""`) {
				also := flag(p.name, p.member, "The same as the argument.")
				also.kind = p.kind
				all[i].params = append(slices.Clip(all[i].params), also)
			}
		}
	}
	return all
}

func (c *Command) Run(chosen *kong.Context) error {
	selected, all := chosen.Selected(), rows()
	i := slices.IndexFunc(all, func(r row) bool { return "agent "+r.path == selected.Path() })
	if i < 0 {
		return terminal.UsageError("a command is missing")
	}
	ctx, stop := untilSignal()
	defer stop()
	run := &call{Connection: c.Connection, row: all[i], ctx: ctx, out: chosen.Stdout, json: c.JSON}
	if err := run.read(selected.Target); err != nil {
		return err
	}
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

func untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

// row is one command of `stoa agent`: its words, help, arguments, flags and action.
type row struct {
	path, help string
	params     []param
	run        func(*call) error
	needs      need
}

// need lists the requirements of a command before it runs.
type need int

const (
	// needsToken: a registered agent.
	needsToken need = iota
	// needsServer: a registered agent, or a server in --url, which is read without a token.
	needsServer
	// needsNothing: the command opens the agent itself.
	needsNothing
)

type call struct {
	Connection
	row

	// client sends requests, with the agent's token unless agent is nil.
	client *client.Client
	agent  *client.Agent
	given  map[string]any
	//nolint:containedctx // of one command line
	ctx  context.Context
	out  io.Writer
	json bool
}

// read copies the values that kong has set in the fields of a command.
func (c *call) read(fields reflect.Value) error {
	c.given = make(map[string]any)
	for i, p := range c.params {
		value := fields.Field(i)
		if value.IsZero() {
			continue
		}
		if c.has(p.name) {
			return terminal.UsageError("write " + p.name + " once, as an argument or as a flag")
		}
		c.given[p.name] = reflect.Indirect(value).Interface()
	}
	for _, p := range c.params {
		if p.needed && !c.has(p.name) {
			return missing(p.name)
		}
	}
	return nil
}

// missing returns the error for an argument that may be written as a flag and was not written.
func missing(name string) error {
	return terminal.UsageError("write " + name + ", as an argument or as --" + name)
}

// text, list and number are values of parameters, empty if they were not given.
func (c *call) text(name string) string {
	text, _ := c.given[name].(string)
	return text
}

func (c *call) list(name string) []string {
	list, _ := c.given[name].([]string)
	return list
}

func (c *call) number(name string) int {
	number, _ := c.given[name].(int)
	return number
}

func (c *call) has(name string) bool { return c.given[name] != nil }

// body returns the members that were given.
func (c *call) body() client.Fields {
	fields := make(client.Fields)
	for _, p := range c.params {
		value, given := c.given[p.name]
		if written, ok := value.(interface{ wire() any }); ok {
			value = written.wire()
		}
		if p.sends != nil {
			value = p.sends
		}
		if given && p.member != "" {
			fields[p.member] = value
		}
	}
	return fields
}

func (c *call) query() url.Values {
	asked := make(url.Values)
	for name, value := range c.body() {
		asked.Set(name, fmt.Sprint(value))
	}
	return asked
}

// target fills {name} in a path.
func (c *call) target(path string) string {
	for name, value := range c.given {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(fmt.Sprint(value)))
	}
	return path
}

// ask returns the run of a command with one request, whose answer has a record.
func ask[Record any](v view[Record], method, path string) func(*call) error {
	return func(c *call) error { return request(c, v, method, path, c.body()) }
}

func request[Record any](c *call, v view[Record], method, path string, body client.Fields) error {
	var sent any
	if method == http.MethodPost || method == http.MethodPut || method == http.MethodPatch {
		sent = body
	}
	record, err := client.One[Record](c.ctx, c.client, method, c.target(path), v.name, sent)
	return v.show(c, record, err)
}

// list returns the run of a command that prints a list, requested with the members that were given.
func list[Record any](v view[Record], path string) func(*call) error {
	return func(c *call) error {
		return v.first(c, client.List[Record](c.ctx, c.client, c.target(path), v.list, c.query()))
	}
}

// remove returns the run of a command that deletes the record at a path; name is the parameter with its id.
func remove(path, name string) func(*call) error {
	return func(c *call) error {
		if err := c.client.Do(c.ctx, http.MethodDelete, c.target(path), nil, nil); err != nil {
			return err
		}
		return c.show(map[string]any{"deleted": true, "id": c.text(name)}, field{"deleted", c.text(name)})
	}
}

// orNone prints a text, or null as JSON, if err is the refusal of a record that does not exist.
func (c *call) orNone(err error, none string) error {
	switch {
	case !client.HasCode(err, "not_found"):
		return err
	case c.json:
		return terminal.JSON(c.out, nil)
	}
	_, err = fmt.Fprintln(c.out, none)
	return err
}

func (c *call) pause(d time.Duration) error {
	select {
	case <-c.ctx.Done():
		return c.ctx.Err()
	case <-time.After(d):
		return nil
	}
}

func tree(rows []row) any {
	commands := make([]terminal.Command, len(rows))
	for i, r := range rows {
		commands[i] = terminal.Command{Path: r.path, Help: r.help, Default: strings.HasSuffix(r.path, " list")}
		for _, p := range r.params {
			commands[i].Parameters = append(commands[i].Parameters, terminal.Parameter{Name: p.name, Type: p.kind, Tag: p.tag})
		}
	}
	return terminal.Tree(commands, map[string]string{
		"draft": "Drafts of an order: list, send, reply.", "board": "The task board: list, watch, post, respond, select.",
		"service": "The catalogue of services: list, show, add, change, remove.",
	})
}
