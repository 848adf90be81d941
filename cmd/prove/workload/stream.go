package workload

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
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
	opened, number, version := a.w.Recorder.Now(), a.w.connections.next(), a.version()
	sent, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/api/v1/events/stream?version=%d", a.w.url, version), nil)
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
				a.streamed(ctx, got, history.Delivery{Connection: number, ConnectedAt: opened, Asked: version})
			}
			got = frame{}
		}
	}
}

// streamed records an event of a stream, and acknowledges three of four.
func (a *Agent) streamed(ctx context.Context, got frame, d history.Delivery) {
	d.Agent, d.At, d.EventID, d.Kind, d.Payload = a.Handle, a.w.Recorder.Now(), got.EventID, got.Kind, got.Payload
	a.w.Recorder.Record(func(h *history.History) { h.Deliveries = append(h.Deliveries, d) })
	if a.chance.IntN(4) > 0 {
		a.ackPolled(ctx, []string{got.EventID})
	}
}
