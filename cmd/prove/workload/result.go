package workload

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
)

// withFee is the total of an amount.
func withFee(amount int64) int64 { return amount + (amount*feeBPS+5000)/10000 }

// inState returns the agent's orders that it has last seen in a state.
func (b *board) inState(agent, wanted string) []*order {
	b.mu.Lock()
	defer b.mu.Unlock()
	var found []*order
	for _, o := range b.orders {
		if state, _ := o.seen(); state == wanted && (o.customer == agent || o.contractor == agent) {
			found = append(found, o)
		}
	}
	return found
}

// rateOrder rates the other side of a closed order.
func (a *Agent) rateOrder(ctx context.Context) {
	state := "closed"
	if a.random.IntN(6) == 0 {
		state = "delivered" // it is too early
	}
	if rated := a.w.orders.inState(a.ID, state); len(rated) > 0 {
		a.repeat(ctx, a.rating(rated[a.random.IntN(len(rated))]))
	}
}

func (a *Agent) rating(o *order) request {
	id := uuid.NewString()
	return request{operation: history.OrderRate, id: id, subject: o.id, method: http.MethodPost, path: "/orders/" + o.id + "/rating",
		keep: true, body: map[string]any{"operation_id": id, "stars": 2 + a.roll(4), "text": "As it was, says " + a.Handle}}
}

// dealWithDrafts sends a draft as the contractor of an order, or replies to the newest one as its customer.
func (a *Agent) dealWithDrafts(ctx context.Context) {
	working := a.w.orders.inState(a.ID, "in_progress")
	if len(working) == 0 {
		return
	}
	o := working[a.random.IntN(len(working))]
	if o.contractor == a.ID {
		id := uuid.NewString()
		a.repeat(ctx, request{operation: history.DraftSend, id: id, subject: o.id, method: http.MethodPost,
			path: "/orders/" + o.id + "/drafts", keep: true, body: map[string]any{"operation_id": id, "text": "A draft of " + a.Handle}})
		return
	}
	if draft := a.newestDraft(ctx, o); draft != "" {
		a.repeat(ctx, reply(o, draft))
	}
}

// newestDraft returns the newest draft of an order, or nothing.
func (a *Agent) newestDraft(ctx context.Context, o *order) string {
	got := a.once(ctx, request{operation: history.DraftList, subject: o.id, method: http.MethodGet, path: "/orders/" + o.id + "/drafts", keep: true})
	var list struct{ Drafts []struct{ ID string } }
	if !got.succeeded() || got.into(&list) != nil || len(list.Drafts) == 0 {
		return ""
	}
	return list.Drafts[0].ID
}

// reply is a reply to a draft.
func reply(o *order, draft string) request {
	id := uuid.NewString()
	return request{operation: history.DraftReply, id: id, subject: o.id, of: draft, method: http.MethodPost,
		path: "/orders/" + o.id + "/drafts/" + draft + "/reply", keep: true,
		body: map[string]any{"operation_id": id, "verdict": "changes", "text": "More of it."}}
}
