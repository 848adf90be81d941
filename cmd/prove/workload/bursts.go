package workload

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
)

// burst is one limit of §8 and the requests that exceed it.
type burst struct {
	limit     string
	operation string
	// allowed is the limit's figure, attempts the number of requests.
	allowed, attempts int
	code              string
	// make returns the request of that number.
	make func(a *Agent, number int) request
}

// bursts are the limits that count requests of one agent. Each has its own agent, which has made no request before that counts
// for the limit.
var bursts = []burst{
	{"changes a minute", "burst.change", 120, 150, "write_limited", func(*Agent, int) request {
		return request{method: http.MethodPost, path: "/orders/quote", body: map[string]int{"amount_minor": 100}}
	}},
	{"friendship requests a minute", "burst.contact", 10, 15, "rate_limited", func(a *Agent, number int) request {
		return request{method: http.MethodPost, path: "/contacts/requests",
			body: map[string]string{"recipient_id": a.w.Agents[number%len(a.w.Agents)].ID}}
	}},
	{"searches a minute", "burst.search", 300, 340, "rate_limited", func(*Agent, int) request {
		return request{method: http.MethodGet, path: "/tasks?q=nothing"}
	}},
}

// RegistrationsAnHour is how many registrations the servers allow altogether (§8).
const RegistrationsAnHour = 100

// BurstAgents registers the agents of one series of bursts.
func (w *Workload) BurstAgents(ctx context.Context, series string) ([]*Agent, error) {
	var agents []*Agent
	for i := range bursts {
		a, err := w.newAgent(ctx, fmt.Sprintf("burst_%s_%d", series, i))
		if err != nil {
			return nil, err
		}
		agents = append(agents, a)
	}
	return agents, nil
}

// Burst exceeds each limit from many connections at once, over all servers.
func (w *Workload) Burst(ctx context.Context, agents []*Agent) {
	for i, b := range bursts {
		w.burst(b, agents[i].Handle, func(number int) {
			r := b.make(agents[i], number)
			r.operation = b.operation
			agents[i].once(ctx, r)
		})
	}
}

// BurstRegistrations exceeds the limit of registrations from one address, and then that of all. No agent can register afterwards
// for an hour.
func (w *Workload) BurstRegistrations(ctx context.Context) {
	const perAddress, addresses = 10, 12
	register := func(operation string, address int) {
		stranger := &Agent{w: w, random: w.random(0)}
		stranger.client, stranger.address = newHTTPClient(1000 + address)
		stranger.public, stranger.private = w.Agents[0].public, w.Agents[0].private
		handle := "x" + strings.ReplaceAll(uuid.NewString(), "-", "")[:20]
		id := uuid.New()
		key := slices.Concat(id[:], id[:])
		key[31] &= 0x7f // a key of the curve
		stranger.once(ctx, request{operation: operation, method: http.MethodPost, path: "/bots/register",
			body: map[string]string{"handle": handle, "display_name": handle, "encryption_public_key": encode(key)}})
		stranger.client.CloseIdleConnections()
	}
	w.burst(burst{"registrations an hour of an address", "burst.register", perAddress, perAddress + 5, "registration_limited", nil}, "",
		func(int) { register("burst.register", 0) })
	w.burst(burst{"registrations an hour", "burst.register.all", RegistrationsAnHour - len(w.registered) - perAddress, addresses * (perAddress - 1), "registration_limited", nil}, "",
		func(number int) { register("burst.register.all", 1+number%addresses) })
}

// burst makes the requests of a burst from eight workers.
func (w *Workload) burst(b burst, agent string, do func(number int)) {
	const workers = 8
	begun := w.Recorder.Now()
	numbers := make(chan int)
	var running sync.WaitGroup
	for range workers {
		running.Go(func() {
			for number := range numbers {
				do(number)
			}
		})
	}
	for number := range b.attempts {
		numbers <- number
	}
	close(numbers)
	running.Wait()
	w.Recorder.Record(func(h *history.History) {
		h.Bursts = append(h.Bursts, history.Burst{
			Limit: b.limit, Allowed: b.allowed, Operation: b.operation, Agent: agent, Code: b.code, Start: begun, End: w.Recorder.Now(),
		})
	})
}

// BurstSockets opens more sockets of one agent than it may have, and then more altogether, all at the same time.
func (w *Workload) BurstSockets(ctx context.Context) {
	const perAgent, altogether = 2, 32
	w.sockets(ctx, burst{limit: "sockets of an agent", operation: "burst.socket", allowed: perAgent, attempts: perAgent + 4}, w.Agents[:1])
	agents := w.Agents[:min(len(w.Agents), altogether/perAgent+4)]
	w.sockets(ctx, burst{limit: "sockets", operation: "burst.socket.all", allowed: min(altogether, perAgent*len(agents)), attempts: altogether + 8}, agents)
}

// socketVerdict is how long a socket that is refused takes at most to say so.
const socketVerdict = 3 * time.Second

// sockets opens the attempts of a burst and holds those that stay open until all are judged.
func (w *Workload) sockets(ctx context.Context, b burst, agents []*Agent) {
	begun := w.Recorder.Now()
	var running sync.WaitGroup
	for number := range b.attempts {
		a := agents[number%len(agents)]
		running.Go(func() {
			recorded := history.Attempt{Operation: b.operation, Start: w.Recorder.Now()}
			c, err := a.connect(ctx)
			if err != nil {
				recorded.Failure = err.Error()
			} else {
				recorded.Status = http.StatusOK
				for until := time.Now().Add(socketVerdict); err == nil; {
					_, err = c.next(until)
				}
				if isRefused(err) {
					recorded.Status, recorded.Code, recorded.RetryAfter = http.StatusTooManyRequests, "4429", true
				}
				defer c.Close() //nolint:errcheck // its end is the point
			}
			recorded.End = w.Recorder.Now()
			w.Recorder.Record(func(h *history.History) { h.Attempts = append(h.Attempts, recorded) })
		})
	}
	running.Wait()
	w.Recorder.Record(func(h *history.History) {
		h.Bursts = append(h.Bursts, history.Burst{
			Limit: b.limit, Allowed: b.allowed, Operation: b.operation, Code: "4429", Start: begun, End: w.Recorder.Now(),
		})
	})
}
