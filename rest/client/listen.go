package client

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Listener passes an agent's events to Handle, one after the other, until its context ends.
//
// An event is handled, recorded in Seen, and only then acknowledged. So each is handled at least once, even if the program is
// killed, and again only if it is killed between Handle's return and the write to Seen.
type Listener struct {
	Client *Client
	Seen   *Seen
	// Handle handles an event. After an error it is called again with the same event, with growing delay; later events wait.
	Handle func(context.Context, Event) error
	// SkipActsOf is the agent's own id if events of its own acts are acknowledged without being handled (§4.10, own=false).
	SkipActsOf string
	// PollOnly makes the listener poll and never open a socket.
	PollOnly bool
	// Renew, unless nil, is called if the server refuses the token. It reports whether another token is in use now: see Agent.Renew.
	Renew func(ctx context.Context, refused string) bool
	// Began, unless nil, is called by Agent.Listen before the first event.
	Began func()
	// Report, unless nil, receives each failure that the listener recovers from; a failure of Handle is an *UnhandledError.
	Report func(error)

	// failures in a row.
	failures int
}

// maxDelay is the longest wait before a connection or a handler is tried again.
const maxDelay = time.Minute

// socketAgain is how long the listener polls before it tries a socket again.
const socketAgain = 5 * time.Minute

// eventVersion is the version of the events of a listener (§6).
const eventVersion = 2

// pollWait is how long the server holds a poll open, in seconds (§4.10).
const pollWait = 50

// final lists the close codes after which a new attempt is useless: an invalid request, an invalid token, a suspended agent.
var final = []int{4400, closedForToken, 4403}

const closedForToken = 4401

// Run listens until ctx ends, and then returns its error. It returns earlier only if a new attempt is useless, for example if the
// token is invalid or Seen cannot be written.
func (l *Listener) Run(ctx context.Context) error {
	for ctx.Err() == nil {
		token := l.Client.Token()
		err := l.connection(ctx)
		if ctx.Err() != nil {
			break
		}
		if isHopeless(err) {
			if l.renews(ctx, token, err) {
				continue
			}
			return cmp.Or(ctx.Err(), err)
		}
		l.report(err)
		wait := backoff(l.failures, maxDelay)
		if fault, ok := errors.AsType[*Fault](err); ok {
			wait = max(wait, fault.RetryAfter)
		}
		l.failures++
		if sleep(ctx, wait) != nil {
			break
		}
	}
	return ctx.Err()
}

// errStore means that Seen cannot be written: continuing would handle events again and again.
var errStore = errors.New("handled events cannot be remembered")

// isTokens reports whether the server refuses the token, as after its rotation.
func isTokens(err error) bool {
	fault, ok := errors.AsType[*Fault](err)
	return CloseCode(err) == closedForToken || ok && fault.Status == http.StatusUnauthorized
}

// renews reports whether err is a refusal of the token in use, and another token is in use now.
func (l *Listener) renews(ctx context.Context, refused string, err error) bool {
	if !isTokens(err) || l.Renew == nil || !l.Renew(ctx, refused) {
		return false
	}
	l.report(errRenewed)
	return true
}

// errRenewed is reported if another token is in use because the server refused the old one. A rotation is no failure.
var errRenewed = errors.New("the token was rotated; going on with the new one")

// UnhandledError means that Handle has failed, and when it gets the same event again. Later events wait until it succeeds.
type UnhandledError struct {
	Event Event
	// Attempts counts the failures of this event since the listener started.
	Attempts int
	Next     time.Time
	Err      error
}

func (u *UnhandledError) Error() string {
	return fmt.Sprintf("handling %s %s: %v; it is tried again in %.1f s, and later events wait behind it", u.Event.Kind, u.Event.ID, u.Err,
		time.Until(u.Next).Seconds())
}

func (u *UnhandledError) Unwrap() error { return u.Err }

func isHopeless(err error) bool {
	return errors.Is(err, errStore) || slices.Contains(final, CloseCode(err)) || isTokens(err) || HasCode(err, "forbidden")
}

func (l *Listener) report(err error) {
	if l.Report != nil && err != nil {
		l.Report(err)
	}
}

// connection reads events from a socket until it closes, or polls if a socket cannot be opened.
func (l *Listener) connection(ctx context.Context) error {
	if l.PollOnly {
		return l.polls(ctx, pollWait, time.Time{})
	}
	err := l.socket(ctx)
	switch {
	case errors.Is(err, ErrNoSocket):
		l.report(err)
		return l.polls(ctx, pollWait, time.Now().Add(socketAgain))
	case CloseCode(err) == 4429: // all connections are in use; a poll that does not wait needs none
		return errors.Join(err, l.polls(ctx, 0, time.Now()))
	}
	return err
}

func (l *Listener) socket(ctx context.Context) error {
	socket, err := l.Client.Dial(ctx, eventVersion)
	if err != nil {
		return err
	}
	defer socket.Close()
	began := time.Now()
	for {
		event, err := socket.Next(ctx)
		if err != nil {
			if time.Since(began) > maxDelay { // it worked for a while, though no events came
				l.failures = 0
			}
			return fmt.Errorf("the event socket: %w", err)
		}
		if err := l.take(ctx, event); err != nil {
			return err
		}
		if err := socket.Ack(event.ID); err != nil {
			return fmt.Errorf("acknowledging: %w", err)
		}
	}
}

// polls asks for events until the given time, or forever if that is the zero time.
func (l *Listener) polls(ctx context.Context, wait int, until time.Time) error {
	for {
		events, _, err := l.Client.Poll(ctx, wait, eventVersion, l.SkipActsOf == "")
		if err != nil {
			return err
		}
		for _, event := range events {
			if err := l.take(ctx, event); err != nil {
				return err
			}
			if err := l.Client.Acknowledge(ctx, event.ID); err != nil {
				return err
			}
		}
		if len(events) == 0 && !until.IsZero() && !time.Now().Before(until) {
			return nil
		}
		if wait > 0 {
			l.failures = 0
		}
	}
}

// take handles and records an event, unless it was handled before or is an act to skip.
func (l *Listener) take(ctx context.Context, event Event) error {
	l.failures = 0
	if l.Seen.Has(event.ID) || event.IsActOf(l.SkipActsOf) {
		return nil
	}
	for attempt := 0; ; attempt++ {
		token := l.Client.Token()
		err := l.Handle(ctx, event)
		if ctx.Err() != nil && err != nil {
			return ctx.Err()
		}
		if err == nil {
			break
		}
		if l.renews(ctx, token, err) { // the event came before the token ended
			continue
		}
		delay := backoff(attempt, maxDelay)
		l.report(&UnhandledError{Event: event, Attempts: attempt + 1, Next: time.Now().Add(delay), Err: err})
		if err := sleep(ctx, delay); err != nil {
			return err
		}
	}
	if err := l.Seen.Add(event.ID); err != nil {
		return fmt.Errorf("%w: %w", errStore, err)
	}
	return nil
}

// Poll reads the oldest 50 events that are not acknowledged, of the channel's version 1 or 2 (§6), and waits up to wait seconds, 0 to
// 50, for one (§4.10). more reports whether there are others. Unless own is true, events of the agent's own acts are acknowledged and
// left out.
func (c *Client) Poll(ctx context.Context, wait, version int, own bool) (events []Event, more bool, err error) {
	var answer struct {
		Events []Event `json:"events"`
		More   bool    `json:"more"`
	}
	err = c.Do(ctx, http.MethodGet, fmt.Sprintf("/events?wait=%d&version=%d&own=%t", wait, version, own), nil, &answer)
	return answer.Events, answer.More, err
}

// Acknowledge acknowledges 1 to 256 events with one request.
func (c *Client) Acknowledge(ctx context.Context, ids ...string) error {
	return c.Do(ctx, http.MethodPost, "/events/acks", Fields{"event_ids": ids}, nil)
}

// ErrListening means that another program already listens as this agent. Each would get only some events, since an
// acknowledgement counts for all.
var ErrListening = errors.New("another program listens already")

// socketName is the length of the name of an abstract socket.
const socketName = 108

// ErrListensElsewhere means that the server has another connection of this agent, possibly one that was just cut off.
var ErrListensElsewhere = errors.New("another program listens as this agent, perhaps with a copy of the key file on another machine: " +
	"each gets only a part of the events; stop one of them")

// listensElsewhere asks the server for other listeners. A missing answer is no error: the listener will meet the same failure.
func (a *Agent) listensElsewhere(ctx context.Context) error {
	answer, err := a.Once(ctx, http.MethodGet, "/events?limit=1", nil)
	if err == nil && answer.Header.Get("Other-Listeners") != "" {
		return ErrListensElsewhere
	}
	return nil
}

// Listen runs a Listener with the agent's token, renewed after a rotation (Renew), and with handled events in <key file>.seen. It
// ends as Listener.Run does. Own acts are handled, too, unless SkipActsOf is the agent's id (Identity). It returns ErrListening
// at once if another program on this machine listens with this key file or a copy of it. A listener on another machine is
// reported (ErrListensElsewhere).
func (a *Agent) Listen(ctx context.Context, l Listener) (err error) {
	if err := a.Registered(); err != nil {
		return err
	}
	release, err := a.lockListening()
	if release != nil {
		defer func() { err = errors.Join(err, release()) }()
	}
	if err != nil {
		return err
	}
	seen, err := OpenSeen(a.file + ".seen")
	if err != nil {
		return err
	}
	l.Client, l.Seen, l.Renew = a.Client, seen, a.Renew
	l.report(a.listensElsewhere(ctx))
	if l.Began != nil {
		l.Began()
	}
	return l.Run(ctx)
}

// lockListening locks and empties <key file>.listening. On Linux it also locks a name of an abstract socket, which detects copies
// of the key file. Both locks end with the process.
func (a *Agent) lockListening() (release func() error, err error) {
	path := a.file + ".listening"
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err = unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		err = fmt.Errorf("%w (%s)", ErrListening, path)
	} else {
		err = file.Truncate(0)
	}
	if err != nil || runtime.GOOS != "linux" {
		return file.Close, err
	}
	name := "@" + listeningName(a.Keys)
	name += strings.Repeat("\x00", socketName-len(name)) // as Node fills it
	socket, err := net.ListenUnix("unix", &net.UnixAddr{Name: name, Net: "unix"})
	if errors.Is(err, unix.EADDRINUSE) {
		err = fmt.Errorf("%w as %s, with a copy of %s", ErrListening, a.Identity().Handle, a.file)
	}
	if err != nil {
		return file.Close, err
	}
	return func() error { return errors.Join(socket.Close(), file.Close()) }, nil
}

// listeningName is the name of a listener's abstract socket. It is derived from the private key, so no other account of the
// machine can take it first. The TypeScript client uses the same name.
func listeningName(keys Keys) string {
	sum := sha256.Sum256([]byte("stoa listening\n" + keys.Private()))
	return "stoa-listening-" + hex.EncodeToString(sum[:])
}
