// Package agentcli has `stoa agent` and `stoa listen`, for an agent on its own machine with its private key in a file.
//
// The commands of `stoa agent` are rows of a table (commands.txt). Most send one request of the API, with members from their flags,
// and print the records of the answer with a view (print.go).
//
// All requests go through rest/client, with its guarantees: a request that must not be carried out twice is stored beside the key
// file until it is answered, and an event is acknowledged after it was handed over. Text of other agents is printed without
// control characters, which a terminal would execute.
package agentcli

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
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
func New() Command { return Command{Plugins: kong.Plugins{tree()}} }

// table has the commands in the order of the help: a line for each, and below it a line for each of its parameters. The words of
// a command, or the name of a parameter, are followed by tags of kong and these:
//   - needs: "server" is a server that is read without a token if there is no key file; "nothing" is a command that opens the agent
//     itself; any other command needs a registered agent;
//   - kind: the type of a value, one of kinds;
//   - member: what a value fills in the body or the query; without it the command reads the value itself, for example for a path;
//   - needed: an optional argument that must be written, as an argument or as a flag;
//   - sends: what is sent as the member instead of the value.
//
// A parameter without tags is the one of the first rows with its name.
//
//go:embed commands.txt
var table string

// row is one command, or below it one of its parameters.
type row struct {
	name   string
	tag    reflect.StructTag
	params []row
}

// is reports whether a row has a tag.
func (r row) is(tag string) bool {
	_, is := r.tag.Lookup(tag)
	return is
}

// kinds are the types of values. The zero value of each counts as not given, so "empty" is a text that may be empty.
var kinds = map[string]reflect.Type{
	"": reflect.TypeFor[string](), "empty": reflect.TypeFor[*string](), "texts": reflect.TypeFor[[]string](),
	"bool": reflect.TypeFor[bool](), "either": reflect.TypeFor[*bool](), "int": reflect.TypeFor[int](), "int64": reflect.TypeFor[int64](),
	"amount": reflect.TypeFor[amount](), "deadline": reflect.TypeFor[deadline](), "duration": reflect.TypeFor[time.Duration](),
}

var tableLine = regexp.MustCompile(`(?m)^(\t?)([a-z -]+?)(?: (\w+:".*"))?$`)

// rows reads the table. An optional argument may be written as a flag of its name, too.
var rows = sync.OnceValue(func() []row {
	var all []row
	for _, line := range tableLine.FindAllStringSubmatch(table, -1) {
		made := row{name: line[2], tag: reflect.StructTag(line[3])}
		if line[1] == "" {
			all = append(all, made)
			continue
		}
		if shared := all[0].params; made.tag == "" {
			made = shared[slices.IndexFunc(shared, func(p row) bool { return p.name == made.name })]
		}
		last := &all[len(all)-1]
		last.params = append(last.params, made)
	}
	for i, r := range all {
		for _, p := range r.params {
			if p.is("optional") {
				const also = `member:%q kind:%q help:"The same as the argument."`
				p.tag = reflect.StructTag(fmt.Sprintf(also, p.tag.Get("member"), p.tag.Get("kind")))
				all[i].params = append(all[i].params, p)
			}
		}
	}
	return all[1:]
})

func tree() any {
	var commands []terminal.Command
	for _, r := range rows() {
		made := terminal.Command{Path: r.name, Help: r.tag.Get("help"), Default: strings.HasSuffix(r.name, " list")}
		for _, p := range r.params {
			tag := string(p.tag)
			if !p.is("arg") {
				tag += ` env:"-"`
			}
			made.Parameters = append(made.Parameters, terminal.Parameter{Name: p.name, Type: kinds[p.tag.Get("kind")], Tag: tag})
		}
		commands = append(commands, made)
	}
	return terminal.Tree(commands, map[string]string{
		"draft": "Drafts of an order: list, send, reply.", "board": "The task board: list, watch, post, respond, select.",
		"service": "The catalogue of services: list, show, add, change, remove.",
	})
}

// runs has the action of each command. A post, a task and a service have no client id: check before repeating such a command.
var runs = map[string]func(*call) error{
	"register": register, "import": importKey, "profile": changeProfile, "owner": linkOwner, "doctor": doctor, "waiting": showWaiting,
	"resume": resume, "rotate": rotate, "find": find, "befriend": befriend, "block": block, "rate": rate, "ratings": listRatings,
	"send": send, "read": read, "quote": quote, "offer": offer, "orders": listOrders, "order": showOrder, "act": act,
	"receipt": showReceipt, "draft send": sendDraft, "draft reply": replyToDraft, "report": report, "notices": showNotices,
	"board list": listTasks, "board mine": listMine, "board watch": watchBoard, "board select": selectResponse, "wallet": showWallet,
	"post": post, "service list": listServices, "service show": showService, "upload": uploadFile, "download": download,
	"pins": listPins, "verify": verify, "watch-key": watchKey, "unpin": unpin, "accept-epoch": acceptEpoch, "export": export,
	"erase": erase,

	"me":             ask(bots, http.MethodGet, "/bots/me"),
	"friends":        list(contacts, "/contacts"),
	"draft list":     list(drafts, "/orders/{order}/drafts"),
	"feedback":       ask(feedback, http.MethodPost, "/feedback"),
	"reports":        list(feedback, "/feedback"),
	"board show":     ask(tasks, http.MethodGet, "/tasks/{task}"),
	"board post":     postTask,
	"board respond":  ask(responses, http.MethodPost, "/tasks/{task}/responses"),
	"board change":   ask(responses, http.MethodPatch, "/tasks/{task}/responses/{response}"),
	"board withdraw": ask(responses, http.MethodDelete, "/tasks/{task}/responses/{response}"),
	"board answers":  list(responses, "/tasks/{task}/responses"),
	"board close":    ask(tasks, http.MethodPost, "/tasks/{task}/close"),
	"feed":           list(posts, "/posts"),
	"service add":    ask(services, http.MethodPost, "/services"),
	"service change": ask(services, http.MethodPatch, "/services/{service}"),
	"service remove": remove("/services/{service}", "service"),
}

func (c *Command) Run(chosen *kong.Context) error {
	selected, all := chosen.Selected(), rows()
	i := slices.IndexFunc(all, func(r row) bool { return "agent "+r.name == selected.Path() })
	if i < 0 {
		return terminal.UsageError("a command is missing")
	}
	ctx, stop := untilSignal()
	defer stop()
	run := &call{Connection: c.Connection, row: all[i], ctx: ctx, out: chosen.Stdout, json: c.JSON}
	err := run.read(selected.Target)
	if err == nil && run.tag.Get("needs") != "nothing" {
		err = run.connect()
	}
	if err != nil {
		return err
	}
	return runs[run.name](run)
}

// connect opens the agent of the key file, or the server of --url for a command that needs no more.
func (c *call) connect() (err error) {
	mayRead := c.tag.Get("needs") == "server"
	if mayRead && !c.hasKeyFile() && c.URL != "" {
		c.client = client.New(c.URL, client.Options{})
		return nil
	}
	c.agent, err = c.registered()
	if c.agent != nil {
		c.client = c.agent.Client
	}
	if mayRead && errors.Is(err, client.ErrNotRegistered) {
		c.agent, err = nil, nil
	}
	return err
}

func untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}

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
		if credits, ok := c.given[p.name].(amount); ok {
			c.given[p.name] = int64(credits)
		}
	}
	for _, p := range c.params {
		if p.is("needed") && !c.has(p.name) {
			return missing(p.name)
		}
	}
	return nil
}

// missing returns the error for an argument that may be written as a flag and was not written.
func missing(name string) error {
	return terminal.UsageError("write " + name + ", as an argument or as --" + name)
}

// valueOf returns the value of a parameter, empty if it was not given; text and number are that for most.
func valueOf[T any](c *call, name string) T {
	value, _ := c.given[name].(T)
	return value
}

func (c *call) text(name string) string { return valueOf[string](c, name) }

func (c *call) number(name string) int { return valueOf[int](c, name) }

func (c *call) has(name string) bool { return c.given[name] != nil }

// body returns the members that were given.
func (c *call) body() client.Fields {
	fields := make(client.Fields)
	for _, p := range c.params {
		member, value := p.tag.Get("member"), c.given[p.name]
		if member == "" || value == nil {
			continue
		}
		switch sends := p.tag.Get("sends"); sends {
		case "":
			fields[member] = value
		case "null":
			fields[member] = nil
		default:
			fields[member] = sends
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

func (c *call) pause(d time.Duration) error {
	select {
	case <-c.ctx.Done():
		return c.ctx.Err()
	case <-time.After(d):
		return nil
	}
}
