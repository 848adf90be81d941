package workload

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/google/uuid"
)

const (
	// quietPace is the mean time between two messages of one of the four senders' loops.
	quietPace = 2500 * time.Millisecond
	// For quietPhase their messages go through the servers of the sockets, then for the same time through other servers.
	quietPhase = 8 * time.Second
	// keptEvents is below the 256 events that a connection may have in flight (§6).
	keptEvents = 100
	// quietEnd is how much longer than the load the sockets stay open: the last events are due by then.
	quietEnd = 11 * time.Second
)

// quiet is two agents that only write to each other, each with one socket that stays open all the time. So each event has to wake
// its socket by itself, and for a late event there is a socket that was open before and after it.
type quiet struct {
	agents []*Agent
	// begin opens the sockets, which end with the run at the latest; end ends them.
	begin, end func()
	// over is when the load ended.
	over time.Time
}

func (w *Workload) newQuiet(ctx context.Context) error {
	w.quiet.begin = func() {
		ctx, stop := context.WithCancel(ctx)
		var open sync.WaitGroup
		for i, a := range w.quiet.agents {
			open.Go(func() { a.keepSocket(ctx, w.servers[i%len(w.servers)]) })
		}
		w.quiet.end = func() { stop(); open.Wait() }
	}
	return w.quiet.agents[0].befriend(ctx, w.quiet.agents[1])
}

// converse makes both agents write until ctx ends, from two loops each, because one may have to wait.
func (w *Workload) converse(ctx context.Context) {
	w.quiet.begin()
	var all []func()
	for i, a := range w.quiet.agents {
		write := func() {
			for pause(ctx, time.Duration(float64(quietPace)*(0.5+float64(a.roll(1000))/1000))) {
				r := a.seal(w.quiet.agents[1-i])
				r.server = w.servers[a.wayTo(1-i)]
				a.repeat(ctx, r)
			}
		}
		all = append(all, write, write)
	}
	together(all...)
	w.quiet.over = time.Now()
}

// wayTo returns the server for a message to one of the two.
func (a *Agent) wayTo(recipient int) int {
	n := len(a.w.servers)
	if int(a.w.Recorder.Now()/quietPhase)%2 == 0 || n == 1 {
		return recipient % n
	}
	return (recipient + 1 + a.roll(n-1)) % n
}

// keepSocket acknowledges three of four events, and of the others all but the first keptEvents; these stay until the end.
func (a *Agent) keepSocket(ctx context.Context, server string) {
	kept := 0
	for pause(ctx, time.Second/10) {
		c, err := a.connect(ctx, server, latestEvents)
		if err != nil {
			pause(ctx, time.Second)
			continue
		}
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		for err == nil {
			var got frame
			if got, err = c.next(time.Time{}); err != nil || got.Type != "event" {
				continue
			}
			if kept < keptEvents && a.chance.IntN(4) == 0 {
				kept++
			} else {
				err = c.ack(got.EventID)
			}
		}
		stop()
		c.end()
	}
}

// endSockets closes the sockets a while after the last message.
func (w *Workload) endSockets(ctx context.Context) {
	pause(ctx, time.Until(w.quiet.over.Add(quietEnd)))
	w.quiet.end()
}

const (
	// slowAgents is how many agents only send files slowly.
	slowAgents = 2
	// slowSide is the size of their pictures in points, about 600 KB: a body must bring 160 KiB in 10 s (§1.8).
	slowSide = 440
	// shortestUpload and longestUpload bound the duration of an upload, slowPiece is the time between two pieces of it.
	shortestUpload = 10 * time.Second
	longestUpload  = 20 * time.Second
	slowPiece      = 100 * time.Millisecond
	// slowPause is the mean time between two of these uploads.
	slowPause = time.Second
)

// uploadSlowly sends one file after the other in small pieces, until ctx ends. If an upload fails, it sends it again at once, as
// a client does whose server has gone.
func (a *Agent) uploadSlowly(ctx context.Context) {
	regularly(ctx, a.random, slowPause, func() {
		r := upload(uuid.NewString(), noise(a.random, slowSide), "slow.png")
		slowly := r
		slowly.pace = shortestUpload + time.Duration(a.random.Int64N(int64(longestUpload-shortestUpload)))
		slowly.announced = a.random.IntN(2) == 0
		if !a.once(ctx, slowly).Succeeded() {
			a.repeat(ctx, r)
		}
	})
}

const (
	// trickleLength is how long such a request sends its body: longer than an ending server waits for load balancers, and shorter
	// than it waits for open requests (docs/running.md).
	trickleLength = 3 * time.Second
	// trickles is how many requests each server always has.
	trickles = 2
)

// trickle keeps requests open at every server until ctx ends, so that each server that ends has some.
func (w *Workload) trickle(ctx context.Context) {
	var all []func()
	for i, a := range w.tricklers {
		for n := range trickles {
			all = append(all, func() {
				pause(ctx, trickleLength*time.Duration(n)/trickles)
				for pause(ctx, time.Second/20) {
					a.once(ctx, request{operation: "quote", server: w.servers[i], body: members{"amount_minor": 100},
						pace: trickleLength, announced: true})
				}
			})
		}
	}
	together(all...)
}

// drip is a body that comes in small pieces; when ctx ends, the rest comes at once.
type drip struct {
	ctx  context.Context //nolint:containedctx // a reader cannot learn of its end otherwise
	rest []byte
	// piece is how many bytes come at a time, pause the time before them.
	piece int
	pause time.Duration
}

func newDrip(ctx context.Context, body []byte, pace time.Duration) *drip {
	pieces := min(len(body), int(pace/slowPiece))
	return &drip{ctx, body, len(body) / pieces, pace / time.Duration(pieces)}
}

// Read implements io.Reader.
func (d *drip) Read(p []byte) (int, error) {
	if len(d.rest) == 0 {
		return 0, io.EOF
	}
	size := d.piece
	if !pause(d.ctx, d.pause) {
		size = len(d.rest)
	}
	n := copy(p, d.rest[:min(size, len(d.rest))])
	d.rest = d.rest[n:]
	return n, nil
}
