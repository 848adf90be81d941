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
	// friend says that the agent has the first agent of the run as a friend.
	friend bool
}

// bursts are the limits that count requests of one agent. Each has its own agent, which has made no request before that counts
// for the limit.
var bursts = []burst{
	{limit: "changes a minute", operation: "burst.change", allowed: 120, attempts: 150, code: "write_limited",
		make: func(*Agent, int) request {
			return request{method: http.MethodPost, path: "/orders/quote", body: map[string]int{"amount_minor": 100}}
		}},
	{limit: "friendship requests a minute", operation: "burst.contact", allowed: 10, attempts: 15, code: "rate_limited",
		make: func(a *Agent, number int) request {
			others := slices.DeleteFunc(slices.Clone(a.w.registered), func(other *Agent) bool { return other == a })
			return request{method: http.MethodPost, path: "/contacts/requests",
				body: map[string]string{"recipient_id": others[number%len(others)].ID}}
		}},
	{limit: "searches a minute", operation: "burst.search", allowed: 300, attempts: 340, code: "rate_limited",
		make: func(*Agent, int) request { return request{method: http.MethodGet, path: "/tasks?q=nothing"} }},
	{limit: "messages a minute", operation: history.MessageSend, allowed: 60, attempts: 72, code: "rate_limited", friend: true,
		make: func(a *Agent, _ int) request { return a.seal(a.friends[0], newNonce()) }},
	{limit: "files of an agent", operation: "burst.file", allowed: history.FilesOfAgent, attempts: history.FilesOfAgent + 6,
		code: "storage_quota_exceeded", make: func(a *Agent, number int) request {
			r := upload(uuid.NewString(), picture(a.w.random(1<<35+uint64(number))), "burst.png")
			r.id = "" // what has no room is not asked for again
			return r
		}},
}

// RegistrationsAnHour is how many registrations the servers allow altogether (§8).
const RegistrationsAnHour = 100

// BurstAgents registers the agents of one series of bursts.
func (w *Workload) BurstAgents(ctx context.Context, series string) ([]*Agent, error) {
	var agents []*Agent
	for i, b := range bursts {
		a, err := w.newAgent(ctx, fmt.Sprintf("burst_%s_%d", series, i))
		if err != nil {
			return nil, err
		}
		if b.friend {
			if err := a.befriend(ctx, w.Agents[0]); err != nil {
				return nil, err
			}
		}
		agents, w.burst = append(agents, a), append(w.burst, a)
	}
	return agents, nil
}

// Burst exceeds each limit from many connections at once, over all servers.
func (w *Workload) Burst(ctx context.Context, agents []*Agent) {
	for i, b := range bursts {
		w.exceed(b, agents[i].Handle, func(number int) {
			r := b.make(agents[i], number)
			r.operation = b.operation
			if got := agents[i].once(ctx, r); r.id != "" && !got.final() {
				agents[i].postpone(r)
			}
		})
	}
}

// BurstRegistrations exceeds the limit of registrations from one address, and then that of all. No agent can register afterwards
// for an hour.
func (w *Workload) BurstRegistrations(ctx context.Context) {
	const perAddress, addresses = 10, 12
	before := 0
	w.Recorder.Record(func(h *history.History) {
		for i := range h.Attempts {
			if h.Attempts[i].Operation == history.Register {
				before++ // a repeat counts as well
			}
		}
	})
	register := func(operation string, address int) {
		stranger := &Agent{w: w, random: w.random(0)}
		stranger.client, stranger.address = newHTTPClient(1000 + address)
		stranger.public, stranger.private = w.Agents[0].public, w.Agents[0].private
		handle := "x" + strings.ReplaceAll(uuid.NewString(), "-", "")[:20]
		id := uuid.New()
		key := slices.Concat(id[:], id[:])
		key[31] &= 0x7f // a key of the curve
		stranger.once(ctx, request{operation: operation, subject: handle, method: http.MethodPost, path: "/bots/register",
			body: map[string]string{"handle": handle, "display_name": handle, "encryption_public_key": encode(key)}})
		stranger.client.CloseIdleConnections()
	}
	w.exceed(burst{limit: "registrations an hour of an address", operation: "burst.register", allowed: perAddress, attempts: perAddress + 5,
		code: "registration_limited"}, "",
		func(int) { register("burst.register", 0) })
	w.exceed(burst{limit: "registrations an hour", operation: "burst.register.all", allowed: RegistrationsAnHour - before - perAddress,
		attempts: addresses * (perAddress - 1), code: "registration_limited"}, "",
		func(number int) { register("burst.register.all", 1+number%addresses) })
}

// exceed makes the requests of a burst from eight workers, of uploads from as many as an agent may have under way.
func (w *Workload) exceed(b burst, agent string, do func(number int)) {
	workers := 8
	if b.operation == "burst.file" {
		workers = 3
	}
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

// BurstSockets opens more sockets of some agents than they may have, one agent after the other, and then more altogether, all at the
// same time.
func (w *Workload) BurstSockets(ctx context.Context) {
	const altogether, alone = 32, 8
	for i := range alone {
		w.sockets(ctx, burst{limit: "sockets of an agent", operation: "burst.socket", allowed: perAgent, attempts: perAgent + 4}, w.Agents[i:i+1])
	}
	agents := w.Agents[:min(len(w.Agents), altogether/perAgent+4)]
	w.sockets(ctx, burst{limit: "sockets", operation: "burst.socket.all", allowed: min(altogether, perAgent*len(agents)), attempts: altogether + 8}, agents)
}

// perAgent is how many places on the event channel an agent has.
const perAgent = 2

// socketVerdict is how long a socket takes at most to bring its first event or to say that it is refused.
const socketVerdict = 30 * time.Second

// tryPlace opens a socket and waits until it has brought an event or is refused. It returns the socket, if there is one, and what is to be
// recorded.
func (a *Agent) tryPlace(ctx context.Context, server string) (c *connection, recorded history.Attempt) {
	recorded.Start = a.w.Recorder.Now()
	c, err := a.connectTo(ctx, server)
	if err == nil {
		_, err = c.next(time.Now().Add(socketVerdict))
	}
	switch {
	case err == nil:
		recorded.Status = http.StatusOK
	case isRefused(err):
		recorded.Status, recorded.Code, recorded.RetryAfter = http.StatusTooManyRequests, "4429", true
	default:
		recorded.Failure = err.Error()
	}
	recorded.End = a.w.Recorder.Now()
	return c, recorded
}

// sockets opens the attempts of a burst and holds those that are open until all are judged. Their agents have events that wait, which
// come on each socket that is not refused.
func (w *Workload) sockets(ctx context.Context, b burst, agents []*Agent) {
	begun := w.Recorder.Now()
	var running, judged sync.WaitGroup
	judged.Add(b.attempts)
	for number := range b.attempts {
		a := agents[number%len(agents)]
		running.Go(func() {
			c, recorded := a.tryPlace(ctx, w.servers[number%len(w.servers)])
			if c != nil {
				defer c.Close() //nolint:errcheck // its end is the point
			}
			recorded.Operation = b.operation
			w.Recorder.Record(func(h *history.History) { h.Attempts = append(h.Attempts, recorded) })
			judged.Done()
			judged.Wait()
		})
	}
	running.Wait()
	w.Recorder.Record(func(h *history.History) {
		h.Bursts = append(h.Bursts, history.Burst{
			Limit: b.limit, Allowed: b.allowed, Operation: b.operation, Code: "4429", Start: begun, End: w.Recorder.Now(),
		})
	})
}
