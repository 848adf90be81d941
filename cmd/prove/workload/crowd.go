package workload

import (
	"context"
	"time"

	"stoa/cmd/prove/history"
)

const (
	// crowdPace is the mean time between two crowds, crowdSize how many sockets try at once.
	crowdPace = 1200 * time.Millisecond
	crowdSize = 8
	// held is how long writes are held while contenders begin.
	held = 300 * time.Millisecond
	// roomFor is with how many agents there is room for the crowd's sockets beside theirs.
	roomFor = 24
)

// newCrowd registers two agents that open more sockets at once than they may. Each has an event that waits, which comes on every
// socket that is open.
func (w *Workload) newCrowd(ctx context.Context) error {
	for _, handle := range []string{"crowd_0", "crowd_1"} {
		a, err := w.newAgent(ctx, handle)
		if err != nil {
			return err
		}
		w.crowd = append(w.crowd, a)
	}
	return w.crowd[0].befriend(ctx, w.crowd[1])
}

// crowdPlaces has an agent open more sockets than it may (§8) at the same moment through all servers, again and again until ctx ends.
func (w *Workload) crowdPlaces(ctx context.Context) {
	if len(w.Agents) > roomFor {
		return
	}
	for i := 0; ; i++ {
		a := w.crowd[i%len(w.crowd)]
		if !a.pause(ctx, time.Duration(a.random.ExpFloat64()*float64(crowdPace))) {
			return
		}
		a.crowdOnce(ctx)
	}
}

// crowdOnce holds all sockets that are open until the last one is judged.
func (a *Agent) crowdOnce(ctx context.Context) {
	w := a.w
	begun, first := w.Recorder.Now(), a.random.IntN(len(w.servers))
	sockets, recorded := make([]*connection, crowdSize), make([]history.Attempt, crowdSize)
	var begin []func()
	for i := range crowdSize {
		begin = append(begin, func() {
			sockets[i], recorded[i] = a.tryPlace(context.WithoutCancel(ctx), w.servers[(first+i)%len(w.servers)])
			recorded[i].Agent, recorded[i].Operation = a.Handle, "burst.place"
		})
	}
	if a.random.IntN(3) > 0 {
		w.bed.HoldWrites(ctx, "socket_leases", held)
	}
	together(begin...)
	for _, c := range sockets {
		if c != nil {
			_ = c.Close() // its end is the point
		}
	}
	w.Recorder.Record(func(h *history.History) {
		h.Attempts = append(h.Attempts, recorded...)
		h.Bursts = append(h.Bursts, history.Burst{
			Limit: "places of an agent on the event channel", Allowed: perAgent, Operation: "burst.place", Agent: a.Handle, Code: "4429",
			Start: begun, End: w.Recorder.Now(), AtMost: true,
		})
	})
}
