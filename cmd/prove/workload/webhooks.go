package workload

import (
	"context"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"stoa/cmd/prove/history"
)

const (
	// In one of tardyOneOf deliveries a receiver waits for tardiness before it answers. Other events wait meanwhile, and the
	// answer is still in time (§4.12).
	tardyOneOf = 6
	tardiness  = 1500 * time.Millisecond
	// signedWithin is how far the time of an attempt may be from the receiver's, whose clock is the database's.
	signedWithin = 2 * time.Minute
)

// hook is the receiver of an agent's webhook. It fails half of the events at their first attempt, and is slow to answer some.
type hook struct {
	agent  *Agent
	server *http.Server
	// known is closed when id and key of the webhook are set: a test may come before the answer that has them.
	known   chan struct{}
	id      string
	signing string
	key     []byte

	mu     sync.Mutex
	failed map[string]bool
}

// newHooks opens two webhooks: one of the second spare agent, which the first agents of the run befriend and write to, and one of
// a rival, which takes part in all contests. They use the two ways of signing.
func (w *Workload) newHooks(ctx context.Context) error {
	for _, other := range w.Agents[:3] {
		if err := other.befriend(ctx, w.spares[1]); err != nil {
			return err
		}
	}
	return errors.Join(w.newHook(ctx, w.spares[1], "v1a"), w.newHook(ctx, w.rivals[0], "v1"))
}

func (w *Workload) newHook(ctx context.Context, a *Agent, signing string) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	h := &hook{agent: a, signing: signing, failed: make(map[string]bool), known: make(chan struct{})}
	w.hooks = append(w.hooks, h)
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go func() { _ = h.server.Serve(listener) }() // it ends with Close
	made, err := a.need(ctx, request{operation: history.WebhookCreate, subject: a.Handle,
		body: members{"url": "http://" + listener.Addr().String() + "/hook", "signing": signing}}, nil)
	if err != nil {
		return err
	}
	h.id = made.text("webhook.id")
	key := strings.TrimPrefix(made.text("secret"), "whsec_")
	if key == "" { // the server signs by its own key
		var set struct {
			Keys []struct {
				PublicKey string `json:"public_key"`
			} `json:"keys"`
		}
		if _, err := a.need(ctx, request{operation: "hook.keys"}, &set); err != nil || len(set.Keys) == 0 {
			return errors.Join(err, errors.New("the server publishes no key"))
		}
		key = strings.TrimPrefix(set.Keys[0].PublicKey, "whpk_")
	}
	h.key, err = base64.StdEncoding.DecodeString(key)
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
	event, wrong := in.Header.Get("webhook-id"), h.wrong(in.Header, raw, sent)
	if sent.Type == "webhook.test" && wrong == "" {
		return
	}
	status, number := h.judge(event), int(w.connections.Add(1))
	if number%tardyOneOf == 0 {
		pause(in.Context(), tardiness)
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

// judge returns the status for a delivery attempt of an event.
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

// delivered is the body of a delivery to a webhook (§4.12).
type delivered struct {
	Type      string          `json:"type"`
	BotID     string          `json:"bot_id"`
	WebhookID string          `json:"webhook_id"`
	Data      json.RawMessage `json:"data"`
}

// signed reports whether a signature of a scheme belongs to a text.
func (h *hook) signed(scheme string, signature, text []byte) bool {
	switch {
	case scheme != h.signing || len(h.key) == 0:
		return false
	case scheme == "v1":
		sum := hmac.New(sha256.New, h.key)
		sum.Write(text)
		return hmac.Equal(signature, sum.Sum(nil))
	}
	return len(h.key) == ed25519.PublicKeySize && ed25519.Verify(h.key, text, signature)
}

// wrong returns a careful receiver's complaint about a delivery, or nothing.
func (h *hook) wrong(header http.Header, body []byte, sent delivered) string {
	event, at := header.Get("webhook-id"), header.Get("webhook-timestamp")
	text := []byte(event + "." + at + "." + string(body))
	genuine := false
	for one := range strings.FieldsSeq(header.Get("webhook-signature")) {
		scheme, encoded, _ := strings.Cut(one, ",")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		genuine = genuine || err == nil && h.signed(scheme, signature, text)
	}
	seconds, err := strconv.ParseInt(at, 10, 64)
	switch {
	case event == "":
		return "it has no webhook-id"
	case !genuine:
		return "no signature of it is right"
	case err != nil || time.Since(time.Unix(seconds, 0)).Abs() > signedWithin:
		return fmt.Sprintf("its time is %q", at)
	case sent.BotID != h.agent.ID:
		return "it is for the agent " + sent.BotID
	case sent.WebhookID != h.id:
		return "it is for the webhook " + sent.WebhookID
	}
	return ""
}
