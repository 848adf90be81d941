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
	"slices"
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

	// The records of its ids; empty if they are gone or not visible to this agent. agent is the other agent's handle, or its id if it
	// is gone.
	happened client.Happened
	order    client.Order
	task     client.Task
	agent    string
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
				_, err = fmt.Fprintln(out, event.line())
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

// handed opens the message of an event, and adds the names of its ids. It returns an error if the message is refused, if the
// opening cannot be recorded, or if a record cannot be read for now, so that the event is handed over later.
func handed(ctx context.Context, a *client.Agent, event client.Event) (Handed, error) {
	h := Handed{Event: event}
	if err := h.look(ctx, a); err != nil {
		return h, err
	}
	h.Agent, h.Title = strings.TrimPrefix(h.agent, "with "), h.order.Title+h.task.Title
	opened, ok, err := a.Text(ctx, event)
	switch {
	case errors.Is(err, client.ErrSealed), errors.Is(err, client.ErrKeyChanged), errors.Is(err, client.ErrUnproven),
		errors.Is(err, client.ErrLogForked), errors.Is(err, client.ErrEpoch):
		h.TextError = err.Error()
	case err != nil:
		return h, err
	case ok:
		h.Text, h.Bound, h.SealedAt = &opened.Text, &opened.Bound, opened.SealedAt
	}
	return h, nil
}

// look reads the records that an event names.
func (h *Handed) look(ctx context.Context, a *client.Agent) (err error) {
	h.happened, _ = h.Happened() // a kind of a later version may have other members
	if id := h.happened.OrderID; id != "" {
		h.order, err = a.Client.Order(ctx, id)
	} else if id := h.happened.TaskID; id != "" {
		h.task, err = a.Task(ctx, id)
	}
	if unlessGone(err) != nil {
		return err
	}
	actor := h.happened.ActorID
	for _, id := range []string{h.happened.SenderID, h.happened.BotID} {
		if actor == "" && !strings.EqualFold(id, a.Identity().ID) {
			actor = id
		}
	}
	for _, side := range []client.Brief{h.order.Customer, h.order.Contractor} {
		if actor != "" && side.ID == actor {
			h.agent = handleText(side)
		}
	}
	switch {
	case h.agent != "":
	case actor != "":
		found, err := a.Client.Find(ctx, actor)
		if h.agent = actor; err == nil {
			h.agent = handleText(found)
		}
		return unlessGone(err)
	case h.order.ID != "":
		h.agent = "with " + handleText(otherSide(h.order))
	case h.task.ID != "" && h.task.Customer.ID != a.Identity().ID:
		h.agent = handleText(h.task.Customer)
	}
	return nil
}

// line returns the event in words: time, act, agent, title and amount.
func (h *Handed) line() string {
	m := h.happened
	parts := []string{h.CreatedAt.UTC().Format(time.DateTime), h.Kind, h.agent, m.Action, m.Status, m.Verdict}
	if m.Stars > 0 {
		parts = append(parts, fmt.Sprintf("%d of 5 stars", m.Stars))
	}
	if len(m.Resembles) > 0 {
		parts = append(parts, "resembles: "+handlesText(m.Resembles))
	}
	switch {
	case h.order.ID != "":
		parts = append(parts, "order "+h.order.ID, "as "+h.order.Role, priceText(h.order)+" credits")
	case m.OrderID != "":
		parts = append(parts, "order "+m.OrderID)
	case h.task.ID != "":
		parts = append(parts, "task "+h.task.ID, terminal.Credits(h.task.Amount)+" credits")
	case m.TaskID != "":
		parts = append(parts, "task "+m.TaskID)
	case m.FeedbackID != "":
		parts = append(parts, "feedback "+m.FeedbackID)
	case m.NoticeID != "":
		parts = append(parts, "notice "+m.NoticeID)
	}
	parts = append(parts, theirs(h.Title), theirs(textOf(h.Text)))
	if h.TextError != "" {
		parts = append(parts, "("+h.TextError+")")
	}
	parts = slices.DeleteFunc(parts, func(part string) bool { return part == "" })
	return strings.ReplaceAll(terminal.Plain(strings.Join(parts, "  ")), "\n", " ")
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

// unlessGone drops the server's refusals to show a record, except those that pass.
func unlessGone(err error) error {
	if fault, ok := errors.AsType[*client.Fault](err); ok && (fault.Status == 404 || fault.Status == 403) {
		return nil
	}
	return err
}

// failing is an event whose hand-over fails repeatedly. It is stored in the listener's lock file, for doctor.
type failing struct {
	Process  int       `json:"process"`
	Kind     string    `json:"kind"`
	EventID  string    `json:"event_id"`
	Attempts int       `json:"attempts"`
	Next     time.Time `json:"next"`
	Error    string    `json:"error"`
}

func listeningFile(key string) string { return key + ".listening" }

// noteFailure stores why an event is not handed over; nil clears it.
func noteFailure(key string, failed *client.UnhandledError) error {
	if failed == nil {
		return os.Truncate(listeningFile(key), 0)
	}
	raw, err := json.Marshal(failing{
		os.Getpid(), failed.Event.Kind, failed.Event.ID, failed.Attempts, failed.Next.UTC(), terminal.Plain(failed.Err.Error()),
	})
	return errors.Join(err, os.WriteFile(listeningFile(key), raw, 0o600))
}

// failure returns the stored failure of a key file's listener, empty if it has none or does not run.
func failure(key string) string {
	raw, err := os.ReadFile(listeningFile(key))
	var found failing
	if err != nil || json.Unmarshal(raw, &found) != nil { // it may be written at this moment
		return ""
	}
	if errors.Is(syscall.Kill(found.Process, 0), syscall.ESRCH) { // it was killed
		return ""
	}
	return fmt.Sprintf("The listener cannot hand over %s %s: %s (%d times). It is tried again at %s, and later events wait behind it.",
		found.Kind, found.EventID, found.Error, found.Attempts, utc(found.Next))
}
