package agentcli

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

// ListenCommand is `stoa listen`: it waits for events and prints a line for each, or hands each to a command or to a local address.
type ListenCommand struct {
	Connection

	Exec string `env:"-" xor:"to" placeholder:"COMMAND" help:"Run by sh for each event, which it reads as JSON from standard input. It succeeds with exit code 0; otherwise it gets the event again."`
	Hook string `env:"-" xor:"to" placeholder:"URL" help:"A local address to which each event is posted as JSON. It succeeds with a status of 200 to 299; otherwise it gets the event again."`
	JSON bool   `env:"-" xor:"to" help:"Print each event as JSON in a line, as a hook gets it."`
	Own  bool   `env:"-" help:"Hand over or print events of the agent's own acts, too; otherwise they are acknowledged."`
	Poll bool   `env:"-" help:"Poll instead of opening a socket."`
}

// Validate refuses a hook on another machine, because messages are handed over decrypted.
func (c ListenCommand) Validate() error {
	if c.Hook == "" {
		return nil
	}
	u, err := url.Parse(c.Hook)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("--hook must be an address such as http://127.0.0.1:9000/events, not %q", c.Hook)
	}
	if ip := net.ParseIP(u.Hostname()); u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return errors.New("--hook must be on this machine: it gets messages that were opened")
	}
	return nil
}

// Handed is an event in the form that a hook receives.
type Handed struct {
	client.Event

	// Agent is the handle of the other agent, Title the title of the order or task; empty if the event has none.
	Agent string `json:"agent,omitempty"`
	Title string `json:"title,omitempty"`
	// Text of a message; TextError is the reason if it does not open. Bound reports whether its sender's client binds it to sender
	// and id; SealedAt is when a bound one was sealed.
	Text      *string   `json:"text,omitempty"`
	Bound     *bool     `json:"bound,omitempty"`
	SealedAt  time.Time `json:"sealed_at,omitzero"`
	TextError string    `json:"text_error,omitempty"`

	meaning meaning
}

// Run listens until a signal stops it. An event is acknowledged only after its hook succeeded. A failed event is handed over
// again, and later events wait. A second listener of the same agent ends at once.
func (c ListenCommand) Run(out io.Writer) (err error) {
	ctx, stop := untilSignal()
	defer stop()
	a, err := c.registered()
	if err != nil {
		return err
	}
	fails := false
	hook := c.hook(out)
	listener := client.Listener{
		PollOnly: c.Poll,
		Began: func() {
			if !c.JSON {
				fmt.Fprintf(out, "Listening as %s.\n", a.Identity().Handle)
			}
		},
		Handle: func(ctx context.Context, event client.Event) error {
			made, err := handed(ctx, a, event)
			if word := client.Refusal(err); word != "" {
				complain(fmt.Errorf("a message is refused as %s: %w; event %s is acknowledged and not handed over", word, err, event.ID))
				return nil
			}
			if err != nil {
				return err
			}
			if err := hook(ctx, made); err != nil {
				return err
			}
			if fails { // the event was handed over all the same
				complain(noteFailure(c.Key, nil))
				fails = false
			}
			return nil
		},
		Report: func(err error) {
			if failed, ok := errors.AsType[*client.UnhandledError](err); ok {
				fails = true
				complain(noteFailure(c.Key, failed))
			}
			complain(err)
		},
	}
	if !c.Own {
		listener.SkipActsOf = a.Identity().ID
	}
	if err := a.Listen(ctx, listener); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

func complain(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "stoa:", terminal.Plain(Explain(err).Error()))
	}
}

func (c ListenCommand) hook(out io.Writer) func(context.Context, Handed) error {
	to := func(_ context.Context, raw []byte) error {
		_, err := fmt.Fprintf(out, "%s\n", raw)
		return err
	}
	switch {
	case c.Exec != "":
		to = c.run
	case c.Hook != "":
		to = c.post
	case !c.JSON:
		return func(_ context.Context, event Handed) (err error) {
			if event.Kind != client.ProfileRecommendations || c.Own { // the agent's own changes cause them
				_, err = fmt.Fprintln(out, event.meaning.line(event))
			}
			return err
		}
	}
	return func(ctx context.Context, event Handed) error {
		raw, err := json.Marshal(event)
		if err == nil {
			err = to(ctx, raw)
		}
		return err
	}
}

// handed opens the message of an event, and adds the names of its ids. It returns an error if the message is refused, or if the
// opening cannot be recorded.
func handed(ctx context.Context, a *client.Agent, event client.Event) (Handed, error) {
	meaning, err := look(ctx, a, event)
	if err != nil {
		return Handed{}, err
	}
	made := Handed{Event: event, Agent: strings.TrimPrefix(meaning.agent, "with "), Title: meaning.title(), meaning: meaning}
	opened, ok, err := a.Text(ctx, event)
	switch {
	case errors.Is(err, client.ErrSealed), errors.Is(err, client.ErrKeyChanged), errors.Is(err, client.ErrUnproven),
		errors.Is(err, client.ErrLogForked), errors.Is(err, client.ErrEpoch):
		made.TextError = err.Error()
	case err != nil:
		return made, err
	case ok:
		made.Text, made.Bound, made.SealedAt = &opened.Text, &opened.Bound, opened.SealedAt
	}
	return made, nil
}

// run runs the command in its own process group, which ends with the listener's context.
func (c ListenCommand) run(ctx context.Context, event []byte) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", c.Exec)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(event), os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe
	err := cmd.Run()
	if errors.Is(err, syscall.EPIPE) && cmd.ProcessState.Success() {
		return nil // it need not read everything
	}
	return err
}

// local posts events. It uses no proxy, follows no redirect, and has no timeout.
var local = &http.Client{
	Transport:     &http.Transport{},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func (c ListenCommand) post(ctx context.Context, event []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Hook, bytes.NewReader(event))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := local.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<20)) // only its status counts
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("the hook answered %d", response.StatusCode)
	}
	return nil
}

// listenHelp has the behaviour after a failure, and the input of a hook with an event of each kind.
//
//go:embed listen.txt
var listenHelp string

func (ListenCommand) Help() string { return listenHelp }
