package ws

import (
	"context"
	"errors"
	"slices"
	"time"
)

var errLost = errors.New("channel: an event did not arrive")

// finish waits for what is still on its way.
func (b *board) finish(ctx context.Context, perSecond int, elapsed time.Duration) (Delivery, error) {
	const poll = 10 * time.Millisecond
	deadline := time.Now().Add(late)
	for b.waiting() {
		if err := ctx.Err(); err != nil {
			return Delivery{}, err
		}
		if time.Now().After(deadline) {
			return Delivery{}, errLost
		}
		time.Sleep(poll)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	d := Delivery{PerSecond: perSecond}
	d.Elapsed, d.Latencies = elapsed, slices.Sorted(slices.Values(b.latencies))
	return d, nil
}

// waiting tells whether a message was answered whose event has not come.
func (b *board) waiting() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.answered) > 0
}
