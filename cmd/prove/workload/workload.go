// Package workload holds the agents of a proof: programs that befriend each other, send sealed messages, trade, publish, upload,
// listen and are linked to their owners, during all faults. They record everything that they see.
//
// The run's seed decides the actions of agents, but not the times of answers: two runs with the same seed plan the same, and
// differ only through the machine and the faults.
//
// A request with an idempotency key is repeated until it has a final answer, as a careful client does (§1.7). A request without
// one is made once. The table of operations (operations.go) has the paths of all requests, and which parts the history keeps.
package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"stoa/cmd/letter"
	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
	"stoa/rest/client"
)

// Workload holds the agents of one run.
type Workload struct {
	Recorder *history.Recorder
	Agents   []*Agent

	url  string
	seed uint64
	bed  *testbed.Bed
	// servers are the names of the servers.
	servers []string
	orders  shelf[*order]
	tasks   shelf[*task]
	posts   shelf[post]
	// Agents with one special task each.
	rivals, burst, spares, crowd, tricklers, slow []*Agent
	guesser, watcher                              *Agent
	log                                           *client.KeyLog
	quiet                                         quiet
	hooks                                         []*hook
	arena                                         arena
	// lasting is held while an agent's token changes, and from a backup until the end of its restore.
	lasting sync.Mutex
	// registered are all agents, including the agents of bursts.
	registered []*Agent
	mails      mailbox
	// connections counts the sockets and polls of the run.
	connections atomic.Int64
}

// New registers agents and makes each a friend of the next ones, before the faults. The owners' mails come to bed.Mail.
func New(ctx context.Context, recorder *history.Recorder, bed *testbed.Bed, seed uint64, agents int) (w *Workload, err error) {
	w = &Workload{Recorder: recorder, url: bed.URL, seed: seed, bed: bed, mails: mailbox{letters: make(map[string]letter.Letter)}}
	for _, server := range bed.Servers {
		w.servers = append(w.servers, server.Name)
	}
	bed.Mail.Notify(w.receive)
	for _, group := range []struct {
		handles string
		count   int
		into    *[]*Agent
	}{
		{"agent_%02d", agents, &w.Agents}, {"rival_%d", rivals, &w.rivals}, {"slow_%d", slowAgents, &w.slow},
		{"crowd_%d", 2, &w.crowd}, {"quiet_%d", 2, &w.quiet.agents}, {"trickle_%d", len(w.servers), &w.tricklers},
	} {
		if *group.into, err = w.newAgents(ctx, group.handles, group.count); err != nil {
			return nil, err
		}
	}
	for i, a := range w.Agents {
		a.closes = i%2 == 1
		if !a.closes {
			if err := a.completeProfile(ctx); err != nil {
				return nil, err
			}
		}
	}
	for i, a := range w.Agents {
		for _, distance := range []int{1, 2, 5} {
			if other := w.Agents[(i+distance)%agents]; other != a && !slices.Contains(a.friends, other) {
				if err := a.befriend(ctx, other); err != nil {
					return nil, err
				}
			}
		}
	}
	for _, prepare := range []func(context.Context) error{
		w.newRivals, w.newSpares, w.newHooks, w.newTwins, w.newCrowd, w.newQuiet, w.newGuesser, w.newWatcher, w.earn,
	} {
		if err := prepare(ctx); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// Run runs all agents until ctx is done. It returns when every running request has an answer or has been given up.
func (w *Workload) Run(ctx context.Context) {
	all := []func(context.Context){w.contend, w.crowdPlaces, w.converse, w.trickle, w.rotate}
	for _, a := range w.Agents {
		all = append(all, a.act, a.listen, a.seekOwner)
	}
	for _, a := range w.slow {
		all = append(all, a.uploadSlowly)
	}
	if !w.older() {
		all = append(all, w.watchLog, w.guess) // 0.2.0 refuses a wrong code also if it could not count it
	}
	var running sync.WaitGroup
	for _, do := range all {
		running.Go(func() { do(ctx) })
	}
	running.Wait()
}

// Settle repeats all requests without a final answer, waits for mails, and receives and acknowledges all waiting events. The
// faults must be over.
func (w *Workload) Settle(ctx context.Context) error {
	for _, a := range slices.Concat(w.burst, w.quiet.agents, []*Agent{w.guesser}) {
		a.settle(ctx) // its requests cause events of others
	}
	var beside sync.WaitGroup
	beside.Go(func() { w.settleGuesser(ctx) })
	defer beside.Wait()
	// An agent's requests cause events of others, so all settle before any drains.
	settle := func(a *Agent, ctx context.Context) error { a.settle(ctx); return nil }
	receive := func(a *Agent, ctx context.Context) error { a.settleOwner(ctx); return a.drain(ctx) }
	for _, do := range []func(*Agent, context.Context) error{settle, receive} {
		if err := each(ctx, w.all(), do); err != nil {
			return err
		}
	}
	w.endSockets(ctx)
	others := slices.Concat(w.burst, w.crowd, w.quiet.agents)
	return each(ctx, slices.DeleteFunc(others, func(a *Agent) bool { return len(a.friends) == 0 }), (*Agent).drain)
}

// Hold ends changes of tokens until Resume: an agent that lost a new token in a restore could not continue.
func (w *Workload) Hold() { w.lasting.Lock() }

// Forget drops the answers whose requests the agents would repeat, and the known states of all orders: note accepts the next read
// state. No server runs.
func (w *Workload) Forget() {
	for _, a := range w.registered {
		a.mu.Lock()
		a.answers = nil
		a.mu.Unlock()
	}
	for _, o := range w.orders.list(every[*order]) {
		o.mu.Lock()
		o.state, o.version = "", 0
		o.mu.Unlock()
	}
}

// Resume finds out which orders still exist, and lets the agents go on. The judge knows whether an order may be lost.
func (w *Workload) Resume(ctx context.Context) {
	defer w.lasting.Unlock()
	start := w.Recorder.Now()
	if _, err := w.log.AcceptEpoch(ctx, ""); client.Alarm(err) {
		w.watcher.audited(history.LogAudit, start, err)
	}
	unseen := func(o *order) bool { _, version := o.seen(); return version == 0 }
	for _, o := range w.orders.list(unseen) {
		if w.byID(o.customer).read(ctx, o.id).Status == http.StatusNotFound {
			w.orders.remove(func(other *order) bool { return other == o })
		}
	}
}

// mayBeLost reports whether a restore may have undone an answer of that age.
func (w *Workload) mayBeLost(age time.Duration) (is bool) {
	at := w.Recorder.Now() - age
	w.Recorder.Record(func(h *history.History) {
		is = slices.ContainsFunc(h.Losses, func(l history.Loss) bool { return at > l.Begun && at < l.Restored })
	})
	return is
}

// signedIn returns the registered agents with a token. A token may have been lost with an answer.
func (w *Workload) signedIn() []*Agent {
	return slices.DeleteFunc(slices.Clone(w.registered), func(a *Agent) bool { return a.bearer() == "" })
}

// all returns the agents that work during the run.
func (w *Workload) all() []*Agent { return slices.Concat(w.Agents, w.rivals, w.slow, w.spares[1:]) }

// Close closes the connections that the agents keep.
func (w *Workload) Close() {
	for _, h := range w.hooks {
		_ = h.server.Close() // nothing waits for its requests
	}
	for _, a := range w.registered {
		a.client.CloseIdleConnections()
	}
}

// older reports whether another version of the server takes part, which may lack the newest features.
func (w *Workload) older() bool { return w.bed.Older != "" }

func (w *Workload) random(stream uint64) *rand.Rand { return rand.New(rand.NewPCG(w.seed, stream)) }

// each runs do for all agents at the same time.
func each(ctx context.Context, agents []*Agent, do func(a *Agent, ctx context.Context) error) error {
	running, within := errgroup.WithContext(ctx)
	for _, a := range agents {
		running.Go(func() error {
			if err := do(a, within); err != nil {
				return fmt.Errorf("%s: %w", a.Handle, err)
			}
			return nil
		})
	}
	return running.Wait()
}

// together starts all functions at the same time and returns when all have returned.
func together(all ...func()) {
	var ready, running sync.WaitGroup
	begin := make(chan struct{})
	ready.Add(len(all))
	for _, do := range all {
		running.Go(func() {
			ready.Done()
			<-begin
			do()
		})
	}
	ready.Wait()
	close(begin)
	running.Wait()
}

// regularly calls do until ctx ends, with pauses of that mean length.
func regularly(ctx context.Context, random *rand.Rand, mean time.Duration, do func()) {
	for pause(ctx, time.Duration(random.ExpFloat64()*float64(mean))) {
		do()
	}
}

// pause waits; it returns false if ctx ended.
func pause(ctx context.Context, length time.Duration) bool { return testbed.Wait(ctx, length) == nil }
