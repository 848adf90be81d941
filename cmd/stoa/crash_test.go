package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/rest/client"
)

// minConfirmed is how many messages and order operations each pair has confirmed before the crash.
const minConfirmed = 15

// pair is two friends. One sends messages to the other and orders from it until the server dies.
type pair struct {
	from, to *testAgent
	// sent are all envelopes that were tried, in order. The first confirmedMessages of them were answered.
	sent              []client.Envelope
	confirmedMessages atomic.Int64
	// operations are those on orders, in the same way.
	operations          []operation
	confirmedOperations atomic.Int64
}

// operation is one request that changes an order, and its answer.
type operation struct {
	by   *testAgent
	path string
	body map[string]any
	want int
	// order is zero until the answer came.
	order orderCard
}

type orderCard struct {
	ID      string `json:"id"`
	State   string `json:"state"`
	Version int64  `json:"version"`
}

type orderAnswer struct {
	Order orderCard `json:"order"`
}

func (o *operation) run(ctx context.Context) error {
	var got orderAnswer
	err := o.by.Do(ctx, http.MethodPost, o.path, o.body, &got)
	if err == nil {
		o.order = got.Order
	}
	return err
}

// sendMessages sends messages until one is not answered.
func (p *pair) sendMessages(ctx context.Context) {
	for {
		envelope := p.from.seal(p.to, fmt.Sprintf("message %d", len(p.sent)))
		p.sent = append(p.sent, envelope)
		if err := p.from.post(ctx, envelope); err != nil {
			return
		}
		p.confirmedMessages.Add(1)
	}
}

// runOrders takes orders from offer to payment until an operation is not answered.
func (p *pair) runOrders(ctx context.Context) {
	for {
		p.operations = append(p.operations, p.nextOperation())
		if err := p.operations[len(p.operations)-1].run(ctx); err != nil {
			return
		}
		p.confirmedOperations.Add(1)
	}
}

// nextOperation continues the last order, or makes a new one.
func (p *pair) nextOperation() operation {
	id := uuid.NewString()
	if len(p.operations) > 0 {
		last := p.operations[len(p.operations)-1].order
		steps := map[string]struct {
			by     *testAgent
			action string
		}{
			"offered": {p.to, "accept"}, "funded": {p.to, "start"}, "in_progress": {p.to, "deliver"}, "delivered": {p.from, "complete"},
		}
		if step, open := steps[last.State]; open {
			body := map[string]any{"operation_id": id, "expected_version": last.Version}
			if step.action == "deliver" {
				body["result_text"] = "done"
			}
			return operation{by: step.by, path: "/orders/" + last.ID + "/" + step.action, body: body, want: http.StatusOK}
		}
	}
	return operation{by: p.from, path: "/orders", want: http.StatusCreated, body: map[string]any{
		"operation_id": id, "contractor_id": p.to.ID, "amount_minor": 10, "confirmed_total_minor": 11, "title": "t",
		"description": "d", "deadline": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
	}}
}

// Confirmed operations are there after a crash, exactly once; unconfirmed ones can be repeated.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	first := startServer(t, append(noLimits, "STOA_DATA_DIR="+filepath.Join(t.TempDir(), "data"))...)
	pairs := make([]*pair, 4)
	for i := range pairs {
		pairs[i] = &pair{from: first.join("Agent", "agent"), to: first.join("Agent", "agent")}
		require.NoError(t, pairs[i].from.meet(t.Context(), pairs[i].to))
	}
	var busy sync.WaitGroup
	for _, p := range pairs {
		busy.Go(func() { p.sendMessages(t.Context()) })
		busy.Go(func() { p.runOrders(t.Context()) })
	}
	eventually(t, func() bool {
		return !slices.ContainsFunc(pairs, func(p *pair) bool {
			return p.confirmedMessages.Load() < minConfirmed || p.confirmedOperations.Load() < minConfirmed
		})
	}, "too few requests were confirmed")
	killCluster(t, first.data)
	first.signal(syscall.SIGKILL)
	busy.Wait()

	second := startServer(t, append([]string{"STOA_DATA_DIR=" + first.data}, noLimits...)...)
	for _, p := range pairs {
		p.from, p.to = p.from.on(second), p.to.on(second)
		p.checkMessages(t)
		p.checkEvents(t)
		p.checkOrders(t)
	}
	require.Contains(t, second.queryOperator(`mutation { runMaintenance(task: RECONCILE, reason: "after the crash") { discrepancies { check } } }`),
		`"discrepancies":[]`)
}

// checkMessages repeats the envelope that was not confirmed and reads the whole history.
func (p *pair) checkMessages(t *testing.T) {
	t.Helper()
	repeat := func() int { return send(t, p.from.Client, http.MethodPost, "/messages", p.sent[len(p.sent)-1]).Status }
	require.Contains(t, []int{http.StatusOK, http.StatusCreated}, repeat())
	require.Equal(t, http.StatusOK, repeat())
	read := 0
	for message, err := range p.to.Messages(t.Context(), p.from.ID) {
		require.NoError(t, err)
		read++
		require.Equal(t, p.sent[len(p.sent)-read], message.Envelope)
	}
	require.Len(t, p.sent, read)
}

// checkEvents receives the event of every message, once and in order: none was acknowledged before.
func (p *pair) checkEvents(t *testing.T) {
	t.Helper()
	require.NoError(t, p.to.connect(t.Context()))
	defer p.to.Events.Close()
	for next := 0; next < len(p.sent); {
		event := p.to.Events.next(t)
		if event.Kind == "message.created" {
			var said struct {
				Message client.Message `json:"message"`
			}
			require.NoError(t, json.Unmarshal(event.Payload, &said))
			require.Equal(t, p.sent[next].ClientMessageID, said.Message.ClientMessageID)
			next++
		}
	}
}

// checkOrders repeats every operation: the confirmed ones get the same answer.
func (p *pair) checkOrders(t *testing.T) {
	t.Helper()
	versions := make(map[string]int64)
	for i := range p.operations {
		o := &p.operations[i]
		by := p.from
		if o.by.ID == p.to.ID {
			by = p.to
		}
		answer := send(t, by.Client, http.MethodPost, o.path, o.body)
		var again orderAnswer
		require.NoError(t, json.Unmarshal(answer.Body, &again), "%s", answer.Body)
		if int64(i) < p.confirmedOperations.Load() {
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Body)
			require.Equal(t, o.order, again.Order)
		} else {
			require.Contains(t, []int{http.StatusOK, o.want}, answer.Status, "%s", answer.Body)
		}
		versions[again.Order.ID] = again.Order.Version
	}
	for id, version := range versions {
		var got orderAnswer
		require.NoError(t, p.from.Do(t.Context(), http.MethodGet, "/orders/"+id, nil, &got))
		require.Equal(t, version, got.Order.Version, "no operation took effect twice")
	}
}
