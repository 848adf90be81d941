package faults

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

const (
	// canaryInterval is the time between two requests of the canary.
	canaryInterval = 100 * time.Millisecond
	// starvation is how long the canary waits on a machine without any free time.
	starvation = 500 * time.Millisecond
	// sluggish is how long it waits on a busy machine; on an idle one it waits for a few milliseconds.
	sluggish = 50 * time.Millisecond
)

// Canary repeatedly asks the load balancer itself, not a server, for an answer that needs no work. If it takes half a second, the
// machine starved, and events of that time prove nothing about the service: the canary records a fault.
type Canary struct {
	url      string
	recorder *history.Recorder

	mu sync.Mutex
	// asked is when the running request was due; 0 if none is running.
	asked time.Duration
}

// NewCanary makes the canary of a production.
func NewCanary(bed *testbed.Bed, recorder *history.Recorder) *Canary {
	return &Canary{url: bed.URL + testbed.CanaryPath, recorder: recorder}
}

// Run asks until ctx ends.
func (c *Canary) Run(ctx context.Context) {
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	due := c.recorder.Now()
	for ctx.Err() == nil {
		c.begin(due)
		c.ask(ctx, client)
		now := c.recorder.Now()
		c.recorder.Record(func(h *history.History) {
			if now-due > sluggish {
				h.Delays = append(h.Delays, history.Delay{Start: due, End: now})
			}
			if now-due > starvation {
				h.Faults = append(h.Faults, history.Fault{Name: history.MachineStarved, Target: "the machine", Start: due, Lifted: now, End: now})
			}
		})
		c.begin(0)
		due = c.recorder.Now() + canaryInterval // oversleeping counts, too
		_ = wait(ctx, canaryInterval)
	}
}

func (c *Canary) begin(asked time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asked = asked
}

func (c *Canary) ask(ctx context.Context, client *http.Client) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.url, nil)
	if err != nil {
		return
	}
	response, err := client.Do(request)
	if err != nil {
		return // the load balancer ends with the run
	}
	_, _ = io.Copy(io.Discard, response.Body) // only the time counts
	_ = response.Body.Close()
}

// Pending returns a starvation that has not ended yet.
func (c *Canary) Pending() []history.Fault {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked == 0 || c.recorder.Now()-c.asked < starvation {
		return nil
	}
	return []history.Fault{{Name: history.MachineStarved, Target: "the machine", Start: c.asked}}
}
