package faults

import (
	"context"
	"io"
	"net/http"
	"time"

	"stoa/cmd/prove/history"
)

const (
	// canaryInterval is the time between two requests of the canary.
	canaryInterval = 100 * time.Millisecond
	// starvation is how long the canary waits on a machine without any free time.
	starvation = 500 * time.Millisecond
	// sluggish is how long it waits on a busy machine; on an idle one it waits for a few milliseconds.
	sluggish = 50 * time.Millisecond
)

// Canary repeatedly asks the load balancer itself, at url, for an answer that needs no server and no work, until ctx ends. If it
// takes half a second, the machine starved, and events of that time prove nothing about the service: then it was a fault.
func Canary(ctx context.Context, url string, recorder *history.Recorder) {
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	due := recorder.Now()
	for ctx.Err() == nil {
		starved := history.Fault{Name: history.MachineStarved, Target: "the machine", Start: due}
		end := recorder.Begin(starved)
		askCanary(ctx, client, url)
		now := recorder.Now()
		if now-due > sluggish {
			recorder.Record(func(h *history.History) { h.Delays = append(h.Delays, history.Delay{Start: due, End: now}) })
		}
		if starved.Lifted, starved.End = now, now; now-due > starvation {
			end(starved)
		} else {
			end()
		}
		due = recorder.Now() + canaryInterval // oversleeping counts, too
		_ = wait(ctx, canaryInterval)
	}
}

func askCanary(ctx context.Context, client *http.Client, url string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
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
