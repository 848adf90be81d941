package workload

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

const (
	// trickleLength is how long the body of such a request takes: longer than a server waits for load balancers when it ends, and shorter
	// than it waits for what it has (docs/running.md).
	trickleLength = 3 * time.Second
	// trickles is how many are under way at each server.
	trickles = 2
)

// newTricklers registers an agent for each server, whose requests last.
func (w *Workload) newTricklers(ctx context.Context) error {
	for i := range w.servers {
		a, err := w.newAgent(ctx, fmt.Sprintf("trickle_%d", i))
		if err != nil {
			return err
		}
		w.tricklers = append(w.tricklers, a)
	}
	return nil
}

// trickle has requests under way at every server all the time until ctx ends, so that each server that ends has some.
func (w *Workload) trickle(ctx context.Context) {
	var all []func()
	for i, a := range w.tricklers {
		for n := range trickles {
			all = append(all, func() {
				a.pause(ctx, trickleLength*time.Duration(n)/trickles)
				for a.pause(ctx, time.Second/20) {
					a.once(ctx, request{operation: "quote", method: http.MethodPost, path: "/orders/quote", server: w.servers[i],
						raw: []byte(`{"amount_minor":100}`), contentType: "application/json", pace: trickleLength, announced: true})
				}
			})
		}
	}
	together(all...)
}
