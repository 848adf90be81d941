package main

import (
	"context"
	"time"

	"stoa/cmd/bench/machine"
	"stoa/cmd/bench/ws"
)

const (
	// rest is how long a new server is left alone before its memory is read.
	rest = 10 * time.Second
	// channelFrom is the first agent of the event channel: no path sends those behind it anything.
	channelFrom = 256
	// untilGone is how long the server has to notice that sockets were closed.
	untilGone = 2 * time.Second
	// silentLength is how long sockets that acknowledge nothing are watched.
	silentLength = 20 * time.Second
)

// fresh measures a server that has done nothing yet: its memory at rest, the event channel, idle sockets.
func (r *run) fresh(ctx context.Context) error {
	server, err := r.world.Serve(ctx, r.Server)
	if err != nil {
		return err
	}
	defer server.Stop()
	r.sayf("memory at rest")
	if err := pause(ctx, rest); err != nil {
		return err
	}
	if r.data.Rest, err = machine.MemoryOf(server.PID); err != nil {
		return err
	}
	agents := r.world.Agents[channelFrom:]
	if r.wants(memoryPart) {
		r.sayf("idle sockets")
		r.data.Idle, err = ws.MeasureIdle(ctx, server, agents, r.Sockets)
		if err := r.note(ctx, err); err != nil {
			return err
		}
	}
	if r.wants(silentPart) {
		r.sayf("sockets that acknowledge nothing")
		r.data.Silent, err = ws.MeasureSilent(ctx, r.world, server, agents, r.Silent, silentLength)
		if err := r.note(ctx, err); err != nil {
			return err
		}
	}
	if !r.wants(channelPart) {
		return nil
	}
	for _, rate := range r.Rates {
		if err := pause(ctx, untilGone); err != nil {
			return err
		}
		r.sayf("events at %d a second", rate)
		d, err := ws.MeasureDelivery(ctx, server, agents, rate, r.Delivery)
		if err == nil {
			r.data.Deliveries = append(r.data.Deliveries, d)
		}
		if err := r.note(ctx, err); err != nil {
			return err
		}
	}
	return nil
}

func pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}
