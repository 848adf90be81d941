package workload

import (
	"context"
	"time"
)

const (
	// quietPace is the mean time between two messages of one of the four senders' loops.
	quietPace = 2500 * time.Millisecond
	// quietPhase is for how long their messages go through the servers of the sockets, and then for how long through other ones.
	quietPhase = 8 * time.Second
	// quietEnd is how much longer than the load the sockets stay open: what was caused last is due by then.
	quietEnd = 11 * time.Second
)

// quiet is two agents that do nothing but write to each other, each with one socket that stays open all the time. So each event has to
// wake its socket by itself, and one that comes late has a socket that was open before and after it.
type quiet struct {
	agents []*Agent
	// begun is closed when the sockets are to open, ended when they may end, done when they have.
	begun, ended, done chan struct{}
	// over is when the load ended.
	over time.Time
}

// newQuiet registers both. Their sockets end with ctx.
func (w *Workload) newQuiet(ctx context.Context) error {
	w.quiet = quiet{begun: make(chan struct{}), ended: make(chan struct{}), done: make(chan struct{})}
	for _, handle := range []string{"quiet_0", "quiet_1"} {
		a, err := w.newAgent(ctx, handle)
		if err != nil {
			return err
		}
		w.quiet.agents = append(w.quiet.agents, a)
	}
	if err := w.quiet.agents[0].befriend(ctx, w.quiet.agents[1]); err != nil {
		return err
	}
	go w.keepSockets(ctx)
	return nil
}

// converse has both write until ctx ends, from two loops each, since one may have to wait.
func (w *Workload) converse(ctx context.Context) {
	close(w.quiet.begun)
	all := make([]func(), 0, 2*len(w.quiet.agents))
	for i, a := range w.quiet.agents {
		to := w.quiet.agents[1-i]
		for range 2 {
			all = append(all, func() {
				for a.pause(ctx, time.Duration(float64(quietPace)*(0.5+float64(a.roll(1000))/1000))) {
					r := a.seal(to, newNonce())
					r.server = w.servers[a.wayTo(1-i)]
					a.repeat(ctx, r)
				}
			})
		}
	}
	together(all...)
	w.quiet.over = time.Now()
}

// wayTo is the server for a message to one of the two.
func (a *Agent) wayTo(recipient int) int {
	n := len(a.w.servers)
	if int(a.w.Recorder.Now()/quietPhase)%2 == 0 || n == 1 {
		return recipient % n
	}
	return (recipient + 1 + a.roll(n-1)) % n
}

// keepSockets keeps one socket of each open, through its own server, from begun until ended.
func (w *Workload) keepSockets(ctx context.Context) {
	defer close(w.quiet.done)
	select {
	case <-w.quiet.begun:
	case <-ctx.Done():
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-w.quiet.ended:
			cancel()
		case <-ctx.Done():
		}
	}()
	all := make([]func(), 0, len(w.quiet.agents))
	for i, a := range w.quiet.agents {
		all = append(all, func() { a.keepSocket(ctx, w.servers[i%len(w.servers)]) })
	}
	together(all...)
}

// keepSocket acknowledges all events but one in four, which stay until the end.
func (a *Agent) keepSocket(ctx context.Context, server string) {
	for a.pause(ctx, time.Second/10) {
		c, err := a.connectTo(ctx, server)
		if err != nil {
			a.pause(ctx, time.Second)
			continue
		}
		stop := context.AfterFunc(ctx, func() { _ = c.Close() })
		for {
			got, err := c.next(time.Time{})
			if err != nil {
				break
			}
			if got.Type == "event" && a.chance.IntN(4) > 0 && c.ack(got.EventID) != nil {
				break
			}
		}
		stop()
		_ = c.Close() // it has ended
		c.ended()
	}
}

// endSockets ends them a while after the last message.
func (w *Workload) endSockets(ctx context.Context) {
	w.quiet.agents[0].pause(ctx, time.Until(w.quiet.over.Add(quietEnd)))
	close(w.quiet.ended)
	<-w.quiet.done
}
