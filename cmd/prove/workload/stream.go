package workload

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/testbed"
)

// stream receives events as server-sent events for about as long as a socket is kept, and acknowledges most of them by requests.
func (a *Agent) stream(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(a.chance.ExpFloat64()*float64(connectionLife)))
	defer cancel()
	opened, number := a.w.Recorder.Now(), a.w.connections.next()
	sent, err := http.NewRequestWithContext(ctx, http.MethodGet, a.w.url+"/api/v1/events/stream", nil)
	if err != nil {
		return
	}
	sent.Header.Set("Authorization", "Bearer "+a.bearer())
	response, err := (&http.Client{Transport: a.client.Transport}).Do(sent)
	if err != nil {
		return
	}
	defer response.Body.Close()
	recorded := history.Attempt{Agent: a.Handle, Operation: history.EventStream, Start: opened, End: a.w.Recorder.Now(),
		Status: response.StatusCode, Process: response.Header.Get(testbed.ServerHeader), RetryAfter: response.Header.Get("Retry-After") != ""}
	if response.StatusCode == http.StatusTooManyRequests {
		recorded.Code = "rate_limited"
	}
	a.w.Recorder.Record(func(h *history.History) { h.Attempts = append(h.Attempts, recorded) })
	if response.StatusCode != http.StatusOK {
		a.pause(ctx, time.Second)
		return
	}
	var got frame
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		switch name {
		case "id":
			got.EventID = value
		case "event":
			got.Kind = value
		case "data":
			got.Payload = json.RawMessage(value)
		case "":
			if got.EventID != "" {
				a.streamed(ctx, got, opened, number)
			}
			got = frame{}
		}
	}
}

// streamed records an event of a stream, and acknowledges three of four.
func (a *Agent) streamed(ctx context.Context, got frame, opened time.Duration, number int) {
	at := a.w.Recorder.Now()
	a.w.Recorder.Record(func(h *history.History) {
		h.Deliveries = append(h.Deliveries, history.Delivery{
			Agent: a.Handle, Connection: number, ConnectedAt: opened, At: at, EventID: got.EventID, Kind: got.Kind, Payload: got.Payload,
		})
	})
	if a.chance.IntN(4) > 0 {
		a.ackPolled(ctx, []string{got.EventID})
	}
}
