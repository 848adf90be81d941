package workload

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"stoa/cmd/prove/history"
)

// hook is the receiver of an agent's webhook. It fails half of the events at their first attempt.
type hook struct {
	agent  *Agent
	server *http.Server

	mu     sync.Mutex
	failed map[string]bool
}

// newHook opens a webhook of the second spare agent, which the first agents of the run befriend and write to.
func (w *Workload) newHook(ctx context.Context) error {
	a := w.spares[1]
	for _, other := range w.Agents[:3] {
		if err := other.befriend(ctx, a); err != nil {
			return err
		}
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	w.hook = &hook{agent: a, failed: make(map[string]bool)}
	w.hook.server = &http.Server{Handler: w.hook, ReadHeaderTimeout: time.Minute}
	go func() { _ = w.hook.server.Serve(listener) }() // it ends with Close
	got := a.once(ctx, request{operation: history.WebhookCreate, subject: a.Handle, method: http.MethodPost, path: "/webhooks",
		body: map[string]any{"url": "http://" + listener.Addr().String() + "/hook",
			"kinds": []string{"message.created", "order.changed", "contact.requested", "contact.accepted", "contact.blocked"}}})
	if !got.succeeded() {
		return fmt.Errorf("%s cannot have a webhook: %d %s", a.Handle, got.status, got.body)
	}
	return nil
}

// ServeHTTP implements http.Handler.
func (h *hook) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	raw, err := io.ReadAll(in.Body)
	var sent struct {
		Type string          `json:"type"`
		Data json.RawMessage `json:"data"`
	}
	if err != nil || json.Unmarshal(raw, &sent) != nil {
		http.Error(out, "no event", http.StatusBadRequest)
		return
	}
	event, status := in.Header.Get("webhook-id"), http.StatusOK
	if sent.Type != "webhook.test" {
		status = h.judge(event)
		w := h.agent.w
		at, number := w.Recorder.Now(), w.connections.next()
		w.Recorder.Record(func(r *history.History) {
			r.Deliveries = append(r.Deliveries, history.Delivery{
				Agent: h.agent.Handle, Connection: number, At: at, Webhook: true, Answer: status, EventID: event, Kind: sent.Type, Payload: sent.Data,
			})
		})
	}
	out.WriteHeader(status)
}

// judge returns the status for an attempt at an event.
func (h *hook) judge(event string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, again := h.failed[event]; !again {
		h.failed[event] = len(h.failed)%2 == 0
		if h.failed[event] {
			return http.StatusInternalServerError
		}
	}
	return http.StatusOK
}

// close ends the receiver.
func (h *hook) close() {
	if h != nil {
		_ = h.server.Close() // nothing waits for what it was doing
	}
}
