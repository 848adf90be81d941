package workload

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"stoa/cmd/prove/history"
	"stoa/rest/client"
)

const (
	// workers is how many requests of a burst run at once; uploaders is the same for uploads: as many as an agent may have.
	workers, uploaders = 8, 3
	// registrationsAnHour is how many registrations the servers allow, registrationsOfAddress how many from one address (§8).
	registrationsAnHour, registrationsOfAddress = 100, 10
	// placesOfAgent is how many sockets and polls an agent may have, places how many there may be in total.
	placesOfAgent, places = 2, 32
	// socketVerdict is the longest time until a socket has its first event or is refused.
	socketVerdict = 30 * time.Second
	// crowdPace is the mean time between two crowds, crowdSize how many sockets are opened at once.
	crowdPace = 1200 * time.Millisecond
	crowdSize = 8
	// roomFor is the most agents whose sockets leave room for the crowd's.
	roomFor = 24
)

// burst is one limit of §8 and the requests that exceed it.
type burst struct {
	history.Burst

	attempts int
	// make returns the request with that number.
	make func(a *Agent, number int) request
	// friend: the agent has the first agent of the run as a friend.
	friend bool
}

// bursts are the limits that count requests of one agent. Each has its own agent, which has made no request that counts before.
var bursts = []burst{
	{Burst: history.Burst{Limit: "changes a minute", Operation: "burst.change", Allowed: 120, Code: "write_limited"}, attempts: 150,
		make: func(*Agent, int) request { return request{body: members{"amount_minor": 100}} }},
	{Burst: history.Burst{Limit: "friendship requests a minute", Operation: "burst.contact", Allowed: 10, Code: "rate_limited"}, attempts: 15,
		make: func(a *Agent, number int) request {
			others := slices.DeleteFunc(slices.Clone(a.w.registered), func(other *Agent) bool { return other == a })
			return request{body: members{"recipient_id": others[number%len(others)].ID}}
		}},
	{Burst: history.Burst{Limit: "searches a minute", Operation: "burst.search", Allowed: 300, Code: "rate_limited"}, attempts: 340,
		make: func(*Agent, int) request { return request{} }},
	{Burst: history.Burst{Limit: "messages a minute", Operation: history.MessageSend, Allowed: 60, Code: "rate_limited"}, attempts: 72, friend: true,
		make: func(a *Agent, _ int) request { return a.seal(a.friends[0]) }},
	{Burst: history.Burst{Limit: "files of an agent", Operation: "burst.file", Allowed: history.FilesOfAgent, Code: "storage_quota_exceeded"},
		attempts: history.FilesOfAgent + 6, make: func(a *Agent, number int) request {
			r := upload(uuid.NewString(), picture(a.w.random(1<<35+uint64(number))), "burst.png")
			r.id = "" // a refused request is not made again
			return r
		}},
}

// Burst exceeds each limit over many connections at once, through all servers, each by a new agent.
func (w *Workload) Burst(ctx context.Context) (err error) {
	if w.burst, err = w.newAgents(ctx, "burst_%d", len(bursts)); err != nil {
		return err
	}
	for i, b := range bursts {
		a := w.burst[i]
		if b.friend {
			if err := a.befriend(ctx, w.Agents[0]); err != nil {
				return err
			}
		}
		b.Agent = a.Handle
		w.exceed(b, func(number int) {
			r := b.make(a, number)
			r.operation = b.Operation
			if got := a.once(ctx, r); r.id != "" && !got.final() {
				a.postpone(r)
			}
		})
	}
	w.burstSockets(ctx)
	w.burstRegistrations(ctx)
	return nil
}

// burstRegistrations exceeds the limit of registrations from one address, and then the total limit. No agent can register
// afterwards for an hour.
func (w *Workload) burstRegistrations(ctx context.Context) {
	const addresses = 12
	before := 0
	w.Recorder.Record(func(h *history.History) {
		for i := range h.Attempts {
			if h.Attempts[i].Operation == history.Register {
				before++ // a repeat counts as well
			}
		}
	})
	register := func(operation string, address int) {
		stranger := w.newStranger(1000 + address)
		defer stranger.client.CloseIdleConnections()
		stranger.Handle = "x" + strings.ReplaceAll(uuid.NewString(), "-", "")[:20]
		stranger.keys, _ = client.NewKeys() // it never fails
		r := stranger.registration()
		r.operation = operation
		stranger.once(ctx, r)
	}
	alone := history.Burst{Limit: "registrations an hour of an address", Operation: "burst.register", Allowed: registrationsOfAddress,
		Code: "registration_limited"}
	all := history.Burst{Limit: "registrations an hour", Operation: "burst.register.all",
		Allowed: registrationsAnHour - before - registrationsOfAddress, Code: "registration_limited"}
	w.exceed(burst{Burst: alone, attempts: registrationsOfAddress + 5}, func(int) { register(alone.Operation, 0) })
	w.exceed(burst{Burst: all, attempts: addresses * (registrationsOfAddress - 1)},
		func(number int) { register(all.Operation, 1+number%addresses) })
}

// exceed makes the requests of a burst by several workers.
func (w *Workload) exceed(b burst, do func(number int)) {
	count := workers
	if b.Operation == "burst.file" {
		count = uploaders
	}
	b.Start = w.Recorder.Now()
	var running errgroup.Group
	running.SetLimit(count)
	for number := range b.attempts {
		running.Go(func() error { do(number); return nil })
	}
	_ = running.Wait() // no request returns an error
	w.exceeded(b.Burst)
}

// exceeded records a burst that has ended.
func (w *Workload) exceeded(b history.Burst) {
	b.End = w.Recorder.Now()
	w.Recorder.Record(func(h *history.History) { h.Bursts = append(h.Bursts, b) })
}

// burstSockets opens more sockets of some agents than they may have, one agent after the other, and then more than the total
// limit, all at the same time.
func (w *Workload) burstSockets(ctx context.Context) {
	const alone = 8
	for i := range alone {
		w.sockets(ctx, history.Burst{Limit: "sockets of an agent", Operation: "burst.socket", Allowed: placesOfAgent}, w.Agents[i:i+1], placesOfAgent+4)
	}
	agents := w.Agents[:min(len(w.Agents), places/placesOfAgent+4)]
	w.sockets(ctx, history.Burst{Limit: "sockets", Operation: "burst.socket.all", Allowed: min(places, placesOfAgent*len(agents))}, agents, places+8)
}

// sockets opens sockets of agents through all servers at the same time; if there are several agents, first one each. It holds the
// open ones until all are judged. The agents have waiting events, which come on each socket that is not refused.
func (w *Workload) sockets(ctx context.Context, b history.Burst, agents []*Agent, count int) {
	b.Code, b.Start = "4429", w.Recorder.Now()
	opened, recorded := make([]*connection, count), make([]history.Attempt, count)
	first := agents[0].random.IntN(len(w.servers))
	begin := make([]func(), count)
	for i := range count {
		begin[i] = func() {
			opened[i], recorded[i] = agents[i%len(agents)].tryPlace(context.WithoutCancel(ctx), w.servers[(first+i)%len(w.servers)])
			recorded[i].Agent, recorded[i].Operation = b.Agent, b.Operation
		}
	}
	alone := 0
	if len(agents) > 1 { // while all places are taken, an agent without a place takes another agent's (§8)
		alone = len(agents)
	}
	together(begin[:alone]...)
	together(begin[alone:]...)
	for _, c := range opened {
		if c != nil {
			_ = c.Close() // closing it is enough
		}
	}
	w.record(recorded...)
	w.exceeded(b)
}

// tryPlace opens a socket and waits until it gets an event or is refused. It returns the socket, if there is one, and the attempt
// to record.
func (a *Agent) tryPlace(ctx context.Context, server string) (c *connection, recorded history.Attempt) {
	recorded.Start = a.w.Recorder.Now()
	c, err := a.connect(ctx, server, latestEvents)
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

// newCrowd gives each agent of the crowd a waiting event, which comes on every open socket.
func (w *Workload) newCrowd(ctx context.Context) error { return w.crowd[0].befriend(ctx, w.crowd[1]) }

// crowdPlaces repeatedly makes an agent open too many sockets (§8) at the same time through all servers, until ctx ends.
func (w *Workload) crowdPlaces(ctx context.Context) {
	if len(w.Agents) > roomFor {
		return
	}
	i := 0
	regularly(ctx, w.crowd[0].random, crowdPace, func() {
		a := w.crowd[i%len(w.crowd)]
		i++
		if a.random.IntN(3) > 0 {
			w.bed.HoldWrites(ctx, "socket_leases", held)
		}
		w.sockets(ctx, history.Burst{Limit: "places of an agent on the event channel", Allowed: placesOfAgent, Operation: "burst.place",
			Agent: a.Handle, AtMost: true}, []*Agent{a}, crowdSize)
	})
}
