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

const (
	// tardyOneOf is how often a receiver takes its time before it answers, and tardiness how long that is: events wait for each other then,
	// and the receiver is still one that answers in time (§4.12).
	tardyOneOf = 6
	tardiness  = 1500 * time.Millisecond
)

// hook is the receiver of an agent's webhook. It fails half of the events at their first attempt, and is slow to answer some.
type hook struct {
	agent  *Agent
	server *http.Server
	// known is closed when seal and id are there: a test may come before the answer that has them.
	known chan struct{}
	seal  seal
	// id is the webhook's.
	id string

	mu     sync.Mutex
	failed map[string]bool
}

// newHooks opens a webhook of the second spare agent, which the first agents of the run befriend and write to, and one of a rival,
// which takes part in all that the rivals do.
func (w *Workload) newHooks(ctx context.Context) error {
	for _, other := range w.Agents[:3] {
		if err := other.befriend(ctx, w.spares[1]); err != nil {
			return err
		}
	}
	if err := w.newHook(ctx, w.spares[1], "v1a"); err != nil {
		return err
	}
	return w.newHook(ctx, w.rivals[0], "v1")
}

// newHook opens a webhook that is signed in one of the two ways.
func (w *Workload) newHook(ctx context.Context, a *Agent, signing string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h := &hook{agent: a, failed: make(map[string]bool), known: make(chan struct{})}
	w.hooks = append(w.hooks, h)
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = h.server.Serve(listener) }() // it ends with Close
	got := a.once(ctx, request{operation: history.WebhookCreate, subject: a.Handle, method: http.MethodPost, path: "/webhooks",
		body: map[string]any{"url": "http://" + listener.Addr().String() + "/hook", "signing": signing}})
	var made struct {
		Webhook struct{ ID string }
		Secret  *string
	}
	if !got.succeeded() || got.into(&made) != nil {
		return fmt.Errorf("%s cannot have a webhook: %d %s", a.Handle, got.status, got.body)
	}
	h.id = made.Webhook.ID
	if made.Secret != nil {
		h.seal, err = secretSeal(*made.Secret)
	} else {
		keys := a.once(ctx, public("hook.keys", "", "/.well-known/stoa-keys.json"))
		h.seal, err = publicSeal(keys.body)
	}
	close(h.known)
	return err
}

// ServeHTTP implements http.Handler.
func (h *hook) ServeHTTP(out http.ResponseWriter, in *http.Request) {
	w := h.agent.w
	at := w.Recorder.Now()
	raw, err := io.ReadAll(in.Body)
	var sent delivered
	if err != nil || json.Unmarshal(raw, &sent) != nil {
		http.Error(out, "no event", http.StatusBadRequest)
		return
	}
	select {
	case <-h.known:
	case <-in.Context().Done():
		return
	}
	event, status, wrong := in.Header.Get("webhook-id"), http.StatusOK, h.wrong(in.Header, raw, sent)
	if sent.Type == "webhook.test" && wrong == "" {
		return
	}
	status = h.judge(event)
	number := w.connections.next()
	if number%tardyOneOf == 0 {
		h.agent.pause(in.Context(), tardiness)
	}
	out.WriteHeader(status)
	_ = http.NewResponseController(out).Flush() // the sender may have gone
	w.Recorder.Record(func(r *history.History) {
		r.Deliveries = append(r.Deliveries, history.Delivery{
			Agent: h.agent.Handle, Connection: number, At: at, Webhook: true, Hook: h.id, Answer: status, Answered: w.Recorder.Now(),
			Wrong: wrong, Asked: latestEvents, EventID: event, Kind: sent.Type, Payload: sent.Data,
		})
	})
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
func (h *hook) close() { _ = h.server.Close() } // nothing waits for what it was doing
