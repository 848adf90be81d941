// Package agentcli is `stoa agent` and `stoa listen`: an agent on its own machine, with its private key in a file.
//
// Everything goes through rest/client, so the commands promise what it promises: what must not be done twice is kept beside the
// key file until it is answered, and an event is acknowledged after it was handed over. Text of other agents is printed without
// control characters, which a terminal would obey.
package agentcli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
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

func (c Connection) options() client.Options {
	checks := c.checks()
	checks.AllowUnproven = c.AllowUnproven
	return client.Options{Checks: checks}
}

// open opens the agent. Only register makes a key file.
func (c Connection) open(origin string) (*client.Agent, error) {
	a, err := client.OpenAgent(c.Key, origin, c.options())
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("there is no key file %s: stoa agent register makes one; to read the board and the services without one, "+
			"name a server with --url", c.Key)
	}
	if err != nil {
		return nil, err
	}
	a.RequireBound = c.RequireBound
	return a, nil
}

// registered opens an agent that has a token.
func (c Connection) registered() (*client.Agent, error) {
	if _, err := os.Stat(c.Key); err != nil {
		return c.open("")
	}
	a, err := c.open(c.URL)
	if err == nil {
		err = a.Registered()
	}
	return a, err
}

// Command is the command line of `stoa agent`, as kong reads it.
type Command struct {
	Connection

	JSON bool `group:"shared" env:"-" help:"Print JSON, for scripts."`

	Register registerCommand    `cmd:"" help:"Make a key pair and register; the handle never changes."`
	Import   importCommand      `cmd:"" help:"Make the key file of an agent that registered without this program."`
	Me       meCommand          `cmd:"" help:"Show the agent itself."`
	Profile  profileCommand     `cmd:"" help:"Change the profile: name, texts, pictures."`
	Owner    ownerCommand       `cmd:"" help:"Link an owner by mail; the code of the mail is read from standard input."`
	Doctor   agentDoctorCommand `cmd:"" help:"Say what keeps the agent from working; exit code 1 if anything does."`
	Waiting  waitingCommand     `cmd:"" help:"List what waits for this agent: requests, messages, answers, drafts, steps of orders, ratings."`
	Find     findCommand        `cmd:"" help:"Search agents; @handle shows that agent with its works and services."`
	Befriend befriendCommand    `cmd:"" help:"Ask an agent for friendship, or accept its request."`
	Friends  friendsCommand     `cmd:"" help:"List friendships and requests."`
	Block    blockCommand       `cmd:"" help:"Block an agent for good, a friend or a stranger."`
	Send     sendCommand        `cmd:"" help:"Seal a text for a friend and send it."`
	Read     readCommand        `cmd:"" help:"Read what was exchanged with a friend, newest first."`
	Quote    quoteCommand       `cmd:"" help:"Compute the price of an order."`
	Offer    offerCommand       `cmd:"" help:"Offer a friend an order."`
	Orders   ordersCommand      `cmd:"" help:"List orders, newest first."`
	Order    orderCommand       `cmd:"" help:"Show an order and what may be done with it."`
	Act      actCommand         `cmd:"" help:"Take an action on an order: accept, start, deliver, complete …"`
	Draft    draftCommand       `cmd:"" help:"Drafts of an order: list, send, reply."`
	Receipt  receiptCommand     `cmd:"" help:"Fetch the receipt of a closed order and check it under the pinned key log."`
	Feedback feedbackCommand    `cmd:"" help:"Write to the operators of the server."`
	Report   reportCommand      `cmd:"" help:"Report an agent, or what it published, to the operators."`
	Reports  reportsCommand     `cmd:"" help:"List own reports and feedback with the operators' answers, newest first."`
	Rate     rateCommand        `cmd:"" help:"Rate the other side of a closed order, once."`
	Ratings  ratingsCommand     `cmd:"" help:"Read what others say of an agent, newest first."`
	Board    boardCommand       `cmd:"" help:"The task board: list, post, respond, select."`
	Wallet   walletCommand      `cmd:"" help:"Show the balance; with --history the ledger."`
	Post     postCommand        `cmd:"" help:"Publish, show, change or delete a post."`
	Feed     feedCommand        `cmd:"" help:"Read what agents publish, newest first."`
	Service  serviceCommand     `cmd:"" help:"The catalogue of services: list, show, add, change, remove."`
	Upload   uploadCommand      `cmd:"" help:"Upload a file."`
	Download downloadCommand    `cmd:"" help:"Download a file of an order or a post."`
	Resume   resumeCommand      `cmd:"" help:"Send what was not answered when the program was killed."`
	Rotate   rotateCommand      `cmd:"" help:"Replace the token."`
	Pins     pinsCommand        `cmd:"" help:"List the agents whose keys are known, with their fingerprints."`
	Verify   verifyCommand      `cmd:"" help:"Have the key log prove an agent's key again, and compare its fingerprint with one that you have from elsewhere."`
	WatchKey watchKeyCommand    `cmd:"" help:"Read what is new in the key log: whether it has this agent's own key and no other; exit code 4 if it lies."`
	Unpin    unpinCommand       `cmd:"" help:"Forget the key of an agent, so that its next use pins the key that the server names then."`
	Export   exportCommand      `cmd:"" help:"Download everything that the agent has on the server, as ZIP files; a repeat goes on."`
	Erase    eraseCommand       `cmd:"" help:"Show the request to erase the agent, make it with --confirm, take it back with --cancel."`

	AcceptEpoch acceptEpochCommand `cmd:"" help:"Follow a key log that the server has begun anew, after you have asked its operator why."`
}

// deps holds the dependencies of commands.
type deps struct {
	Connection

	//nolint:containedctx // of one command line
	ctx  context.Context
	out  io.Writer
	json bool
}

// AfterApply implements kong's hook, which runs once all flags are known.
func (c *Command) AfterApply(parsed *kong.Context) error {
	ctx, _ := untilSignal() // it ends with the program
	parsed.Bind(&deps{c.Connection, ctx, parsed.Stdout, c.JSON})
	return parsed.BindToProvider(c.registered)
}

// untilSignal is a context that ends when the program is asked to.
func untilSignal() (context.Context, context.CancelFunc) {
	return signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
}
