package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"stoa/cmd/prove/history"
)

const (
	// pollWait is how long a poll waits for an event, in seconds.
	pollWait = 5
	// pollLimit is how many events a poll asks for.
	pollLimit = 20
)

// poll receives and acknowledges events without a socket for about as long as a socket is kept, until ctx ends. A quarter of the
// events is not acknowledged, so that a later poll or socket gets it again.
func (a *Agent) poll(ctx context.Context) {
	end := time.Now().Add(time.Duration(a.chance.ExpFloat64() * float64(connectionLife)))
	for time.Now().Before(end) && ctx.Err() == nil {
		events := a.pollOnce(ctx)
		var acks []string
		for _, e := range events {
			if a.chance.IntN(4) > 0 {
				acks = append(acks, e.EventID)
			}
		}
		if len(acks) > 0 {
			a.ackPolled(ctx, acks)
		}
		if len(events) == 0 || len(acks) == 0 {
			a.pause(ctx, 200*time.Millisecond) // a refusal, or only events that were left
		}
	}
}

// pollOnce makes one poll, which the history takes for its own connection: it is open from the moment it is asked for.
func (a *Agent) pollOnce(ctx context.Context) []frame {
	opened, number, version := a.w.Recorder.Now(), a.w.connections.next(), a.version()
	got := a.once(ctx, request{operation: history.EventPoll, method: http.MethodGet,
		path: fmt.Sprintf("/events?wait=%d&limit=%d&version=%d", pollWait, pollLimit, version)})
	var page struct {
		Events []frame `json:"events"`
	}
	if !got.succeeded() || json.Unmarshal(got.body, &page) != nil {
		return nil
	}
	at := a.w.Recorder.Now()
	a.w.Recorder.Record(func(h *history.History) {
		for _, e := range page.Events {
			h.Deliveries = append(h.Deliveries, history.Delivery{
				Agent: a.Handle, Connection: number, ConnectedAt: opened, At: at, Asked: version, EventID: e.EventID, Kind: e.Kind, Payload: e.Payload,
			})
		}
	})
	return page.Events
}

// ackPolled acknowledges events. What the answer does not call acknowledged is left to a later connection.
func (a *Agent) ackPolled(ctx context.Context, ids []string) {
	got := a.once(ctx, request{operation: history.EventAck, method: http.MethodPost, path: "/events/acks",
		body: map[string][]string{"event_ids": ids}})
	var answer struct {
		Acked []string `json:"acked"`
	}
	if !got.succeeded() || json.Unmarshal(got.body, &answer) != nil {
		return
	}
	at := a.w.Recorder.Now()
	a.w.Recorder.Record(func(h *history.History) {
		for _, id := range answer.Acked {
			h.Acks = append(h.Acks, history.Ack{Agent: a.Handle, EventID: id, Answered: at})
		}
	})
}
