// Package workload is the agents of a proof: programs that befriend each other, send sealed messages, trade, publish, upload, listen
// and are linked to their owners, through whatever faults there are, and record all they see.
//
// What an agent does is drawn from the run's seed. When answers come is not: two runs with the same seed plan the same, and differ
// where the machine and the faults do.
//
// A request with an idempotency key is repeated until it has a final answer, as a careful client does (§1.7). A request without one
// is made once.
package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

// Workload is the agents of one run.
type Workload struct {
	Recorder *history.Recorder
	Agents   []*Agent

	url  string
	seed uint64
	bed  *testbed.Bed
	// servers are the names of the servers.
	servers               []string
	orders                board
	tasks                 shelf[*task]
	posts                 shelf[post]
	reports               shelf[string]
	rivals, burst, spares []*Agent
	crowd, tricklers      []*Agent
	guesser               *Agent
	quiet                 quiet
	slow                  []*Agent
	hooks                 []*hook
	arena                 arena
	restores              restores
	// registered are all agents, those of the bursts included.
	registered []*Agent
	mails      *mailbox
	// connections counts the sockets of the run.
	connections counter
}

// New registers agents and makes each the friend of the next ones, before there are faults. The owners' mails come to bed.Mail.
func New(ctx context.Context, recorder *history.Recorder, bed *testbed.Bed, seed uint64, agents int) (*Workload, error) {
	w := &Workload{
		Recorder: recorder, url: bed.URL, seed: seed, bed: bed, orders: board{index: make(map[string]int)}, mails: newMailbox(),
	}
	for _, server := range bed.Servers {
		w.servers = append(w.servers, server.Name)
	}
	bed.Mail.Notify(w.receive)
	for i := range agents {
		a, err := w.newAgent(ctx, fmt.Sprintf("agent_%02d", i))
		if err != nil {
			return nil, err
		}
		w.Agents = append(w.Agents, a)
		a.tools = i%3 == 2 && !w.older()
		if i%2 == 0 {
			if err := a.completeProfile(ctx); err != nil {
				return nil, err
			}
		} else {
			a.closes = true
		}
	}
	for i, a := range w.Agents {
		for _, distance := range []int{1, 2, 5} {
			if other := w.Agents[(i+distance)%agents]; other != a && !a.isFriend(other) {
				if err := a.befriend(ctx, other); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, prepare := range []func(context.Context) error{
		w.newRivals, w.newSlow, w.newSpares, w.newHooks, w.newTwins, w.newCrowd, w.newQuiet, w.newTricklers, w.newGuesser, w.earn,
	} {
		if err := prepare(ctx); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Run lets all agents act, listen and seek their owners until ctx is done, and returns when every running request has an answer
// or has been given up.
func (w *Workload) Run(ctx context.Context) {
	var running sync.WaitGroup
	for _, a := range w.Agents {
		running.Go(func() { a.act(ctx) })
		running.Go(func() { a.listen(ctx) })
		running.Go(func() { a.seekOwner(ctx) })
	}
	for _, a := range w.slow {
		running.Go(func() { a.uploadSlowly(ctx) })
	}
	for _, do := range []func(context.Context){w.contend, w.crowdPlaces, w.converse, w.trickle, w.guess} {
		running.Go(func() { do(ctx) })
	}
	if !w.older() {
		running.Go(func() { w.watchLog(ctx) })
	}
	running.Go(func() { w.rotate(ctx) })
	running.Wait()
}

// Settle repeats everything that has no final answer yet, waits for mails, and receives and acknowledges all events that wait. The
// faults must be over.
func (w *Workload) Settle(ctx context.Context) error {
	if err := w.settleBursts(ctx); err != nil { // others receive what it sends
		return err
	}
	if err := w.answerFeedback(ctx); err != nil {
		return err
	}
	var beside sync.WaitGroup
	beside.Go(func() { w.settleGuesser(ctx) })
	defer beside.Wait()
	// What one agent settles another one receives, so all settle before any drains.
	for _, settle := range []func(a *Agent, ctx context.Context) error{(*Agent).settle, (*Agent).settleEvents} {
		settling, within := errgroup.WithContext(ctx)
		for _, a := range w.all() {
			settling.Go(func() error {
				if err := settle(a, within); err != nil {
					return fmt.Errorf("%s: %w", a.Handle, err)
				}
				return nil
			})
		}
		if err := settling.Wait(); err != nil {
			return err
		}
	}
	w.endSockets(ctx)
	return w.drainOthers(ctx)
}

// all are the agents that work during the run.
func (w *Workload) all() []*Agent { return slices.Concat(w.Agents, w.rivals, w.slow, w.spares[1:]) }

// drainOthers receives what the agents that have one part were sent.
func (w *Workload) drainOthers(ctx context.Context) error {
	draining, within := errgroup.WithContext(ctx)
	for _, a := range slices.Concat(w.burst, w.crowd, w.quiet.agents) {
		if len(a.friends) == 0 {
			continue
		}
		draining.Go(func() error {
			if err := a.drain(within); err != nil {
				return fmt.Errorf("%s: %w", a.Handle, err)
			}
			return nil
		})
	}
	return draining.Wait()
}

// settleBursts repeats what the agents that have one part have not settled, such as what a limit has postponed.
func (w *Workload) settleBursts(ctx context.Context) error {
	for _, a := range slices.Concat(w.burst, w.quiet.agents, []*Agent{w.guesser}) {
		if err := a.settle(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the connections that the agents keep.
func (w *Workload) Close() {
	for _, h := range w.hooks {
		h.close()
	}
	for _, a := range w.registered {
		a.client.CloseIdleConnections()
	}
}

// older says that another version of the server takes part, which may lack what is newest.
func (w *Workload) older() bool { return w.bed.Older != "" }

// random returns the source of one agent.
func (w *Workload) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(w.seed, stream)) }

// newHTTPClient returns a client with its own address on the loopback, since limits count addresses.
func newHTTPClient(number int) (*http.Client, string) {
	address := fmt.Sprintf("127.1.%d.%d", number/250, number%250+1)
	dialer := &net.Dialer{Timeout: 3 * time.Second, LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{
		Timeout:   requestTimeout,
		Transport: &http.Transport{DialContext: dialer.DialContext, MaxIdleConnsPerHost: 4},
	}, address
}

// counter counts from 1.
type counter struct {
	mu sync.Mutex
	n  int
}

func (c *counter) next() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
	return c.n
}
