package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/cmd/stoa/agent"
)

// pace keeps what one connection must bring after the crash below what may be in flight on it unacknowledged.
const (
	pace = 20 * time.Millisecond
	load = 70 * pace
)

// pair is two friends of whom one writes to and orders from the other without end.
type pair struct {
	from, to *agent.Agent
	// sent are all envelopes that were tried, in order; answered counts those, from the first, that were confirmed.
	sent     []agent.Envelope
	answered int
	// ops are the order commands, in the same way.
	ops      []op
	finished int
}

// op is one command on an order, and what was answered.
type op struct {
	by   *agent.Agent
	path string
	body map[string]any
	want int
	// order is empty until the answer came.
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

func (o *op) run(ctx context.Context) error {
	var got orderAnswer
	err := o.by.Post(ctx, o.path, o.body, o.want, &got)
	if err == nil {
		o.order = got.Order
	}
	return err
}

// write sends messages until one is not answered.
func (p *pair) write(ctx context.Context) {
	for {
		p.sent = append(p.sent, p.from.Seal(p.to, fmt.Sprintf("message %d", len(p.sent))))
		if _, err := p.sent[p.answered].Post(ctx, p.from, http.StatusCreated); err != nil {
			return
		}
		p.answered++
		time.Sleep(pace)
	}
}

// trade takes orders through the life that moves money, until a command is not answered.
func (p *pair) trade(ctx context.Context) {
	for {
		p.ops = append(p.ops, p.nextOp())
		if err := p.ops[p.finished].run(ctx); err != nil {
			return
		}
		p.finished++
		time.Sleep(pace)
	}
}

// nextOp continues the last order, or makes a new one.
func (p *pair) nextOp() op {
	id := uuid.NewString()
	if p.finished > 0 {
		last := p.ops[p.finished-1].order
		steps := map[string]struct {
			by     *agent.Agent
			action string
		}{
			"offered": {p.to, "accept"}, "funded": {p.to, "start"}, "in_progress": {p.to, "deliver"}, "delivered": {p.from, "complete"},
		}
		if step, open := steps[last.State]; open {
			body := map[string]any{"operation_id": id, "expected_version": last.Version}
			if step.action == "deliver" {
				body["result_text"] = "done"
			}
			return op{by: step.by, path: "/orders/" + last.ID + "/" + step.action, body: body, want: http.StatusOK}
		}
	}
	return op{by: p.from, path: "/orders", want: http.StatusCreated, body: map[string]any{
		"operation_id": id, "contractor_id": p.to.ID, "amount_minor": 10, "confirmed_total_minor": 11, "title": "t",
		"description": "d", "deadline": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
	}}
}

// What was confirmed before a crash is there after it, exactly once; what was not can be repeated.
func TestKilledUnderLoad(t *testing.T) {
	t.Parallel()
	first := serve(t, unlimited...)
	pairs := make([]*pair, 4)
	for i := range pairs {
		pairs[i] = &pair{from: register(t, first), to: register(t, first)}
		require.NoError(t, pairs[i].from.Befriend(t.Context(), pairs[i].to))
	}
	var busy sync.WaitGroup
	for _, p := range pairs {
		busy.Go(func() { p.write(t.Context()) })
		busy.Go(func() { p.trade(t.Context()) })
	}
	time.Sleep(load)
	first.signal(syscall.SIGKILL)
	killCluster(t, first.data)
	busy.Wait()

	second := serve(t, append([]string{"STOA_DATA_DIR=" + first.data}, unlimited...)...)
	for _, p := range pairs {
		p.from, p.to = p.from.On(second.client()), p.to.On(second.client())
		require.Greater(t, p.answered, 5)
		require.Greater(t, p.finished, 5)
		p.checkMessages(t)
		p.checkEvents(t)
		p.checkOrders(t)
	}
	checkBooks(t, second.data)
}

func register(t *testing.T, s *instance) *agent.Agent {
	t.Helper()
	made, err := agent.Register(t.Context(), s.client(), "Agent", "agent")
	require.NoError(t, err)
	return made
}

// checkMessages repeats the envelope that was not answered and reads the whole history.
func (p *pair) checkMessages(t *testing.T) {
	t.Helper()
	for _, status := range []int{0, http.StatusOK} {
		answer, err := p.from.Send(t.Context(), http.MethodPost, "/messages", p.sent[p.answered])
		require.NoError(t, err)
		if status == 0 {
			require.Contains(t, []int{http.StatusOK, http.StatusCreated}, answer.Status, "%s", answer.Raw)
			continue
		}
		require.Equal(t, status, answer.Status)
	}
	var history []agent.Letter
	for before := ""; ; {
		var page struct {
			Messages   []agent.Letter `json:"messages"`
			NextBefore *string        `json:"next_before"`
		}
		require.NoError(t, p.to.Get(t.Context(), "/messages?peer="+url.QueryEscape(p.from.ID)+before, &page))
		history = append(history, page.Messages...)
		if page.NextBefore == nil {
			break
		}
		before = "&before=" + *page.NextBefore
	}
	require.Len(t, history, len(p.sent))
	for i, letter := range history {
		require.Equal(t, p.sent[len(p.sent)-1-i], letter.Envelope)
	}
}

// checkEvents takes every message off the socket, once and in order: nothing has been acknowledged.
func (p *pair) checkEvents(t *testing.T) {
	t.Helper()
	require.NoError(t, p.to.Connect(t.Context()))
	defer p.to.Close()
	for next := 0; next < len(p.sent); {
		event, err := p.to.Events.Next()
		require.NoError(t, err)
		if event.Kind == "message.created" {
			var said struct {
				Message agent.Letter `json:"message"`
			}
			require.NoError(t, json.Unmarshal(event.Payload, &said))
			require.Equal(t, p.sent[next].ClientMessageID, said.Message.ClientMessageID)
			next++
		}
	}
}

// checkOrders repeats every command: the confirmed ones answer what they answered then.
func (p *pair) checkOrders(t *testing.T) {
	t.Helper()
	versions := make(map[string]int64)
	for i, o := range p.ops {
		by := p.from
		if o.by.ID == p.to.ID {
			by = p.to
		}
		answer, err := by.Send(t.Context(), http.MethodPost, o.path, o.body)
		require.NoError(t, err)
		var again orderAnswer
		require.NoError(t, json.Unmarshal(answer.Raw, &again), "%s", answer.Raw)
		if i < p.finished {
			require.Equal(t, http.StatusOK, answer.Status, "%s", answer.Raw)
			require.Equal(t, o.order, again.Order)
		} else {
			require.Contains(t, []int{http.StatusOK, o.want}, answer.Status, "%s", answer.Raw)
		}
		versions[again.Order.ID] = again.Order.Version
	}
	for id, version := range versions {
		var got orderAnswer
		require.NoError(t, p.from.Get(t.Context(), "/orders/"+id, &got))
		require.Equal(t, version, got.Order.Version, "no command counted twice")
	}
}

// checkBooks looks at the ledger itself.
func checkBooks(t *testing.T, data string) {
	t.Helper()
	db, err := sql.Open("postgres", "user=stoa dbname=stoa port=5432 sslmode=disable host="+data+"/postgres passfile="+data+"/postgres.pgpass")
	require.NoError(t, err)
	defer db.Close()
	for name, query := range map[string]string{
		"transactions that do not sum to zero": `SELECT count(*) FROM (SELECT FROM ledger_entries GROUP BY transaction_id HAVING sum(delta_minor) <> 0) t`,
		"balances that are not the sum of their entries": `SELECT count(*) FROM accounts a WHERE
			a.available_minor <> (SELECT coalesce(sum(delta_minor), 0) FROM ledger_entries e WHERE e.bot_id = a.bot_id AND e.account_kind = 'available') OR
			a.reserved_minor <> (SELECT coalesce(sum(delta_minor), 0) FROM ledger_entries e WHERE e.bot_id = a.bot_id AND e.account_kind = 'reserved')`,
		"reserves that no open order accounts for": `SELECT sum(reserved_minor) - (SELECT coalesce(sum(total_minor), 0) FROM orders
			WHERE state IN ('funded', 'in_progress', 'delivered', 'disputed')) FROM accounts`,
	} {
		var n int64
		require.NoError(t, db.QueryRowContext(t.Context(), strings.TrimSpace(query)).Scan(&n), name)
		require.Zero(t, n, name)
	}
}
