package workload

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
)

const (
	// rivals is how many agents only contend with each other.
	rivals = 6
	// contentionPace is the mean time between two contests.
	contentionPace = 400 * time.Millisecond
	// In one of heldOneOf contests, writes to one of the contended tables are held for a while when the requests begin.
	heldOneOf = 3
	held      = 300 * time.Millisecond
)

var contended = []string{
	"orders", "accounts", "contacts", "message_guards", "tasks", "responses", "attachments", "drafts", "ratings", "operations",
}

// arena holds the agents that contend. It belongs to contend.
type arena struct {
	random *rand.Rand
	// strangers are pairs of agents of the run that have no contact yet.
	strangers [][2]*Agent
}

// contentions are requests of several agents at the same time through different servers. At most one of them may succeed.
var contentions = []weighted[func(w *Workload, ctx context.Context)]{
	{4, (*Workload).contendForOrder},
	{2, (*Workload).contendForWallet},
	{3, (*Workload).contendForContact},
	{2, (*Workload).contendForNonce},
	{2, (*Workload).contendForTask},
	{2, (*Workload).contendForUpload},
}

// newRivals makes all agents that contend friends.
func (w *Workload) newRivals(ctx context.Context) error {
	for i, a := range w.rivals {
		for _, other := range w.rivals[:i] {
			if err := a.befriend(ctx, other); err != nil {
				return err
			}
		}
	}
	w.arena.random = w.random(1 << 34)
	for i, a := range w.Agents {
		for _, other := range w.Agents[:i] {
			if !slices.Contains(a.friends, other) {
				w.arena.strangers = append(w.arena.strangers, [2]*Agent{a, other})
			}
		}
	}
	w.arena.strangers = shuffled(w.arena.random, w.arena.strangers)
	return nil
}

// shuffled returns all in random order.
func shuffled[T any](random *rand.Rand, all []T) []T {
	all = slices.Clone(all)
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

// contend runs contests until ctx ends, beside everything else that the agents do.
func (w *Workload) contend(ctx context.Context) {
	regularly(ctx, w.arena.random, contentionPace, func() { drawn(w.arena.random, contentions)(w, ctx) })
}

// contest makes all requests at the same time, and repeats those with an idempotency key until they have a final answer.
func (w *Workload) contest(ctx context.Context, all ...moving) []answer {
	first := w.arena.random.IntN(len(w.servers))
	if w.arena.random.IntN(heldOneOf) == 0 {
		w.bed.HoldWrites(ctx, one(w.arena.random, contended), held)
	}
	answers := w.atOnce(ctx, first, all...)
	for i, m := range all {
		if m.id != "" && !answers[i].final() {
			answers[i], _ = m.agent.repeat(ctx, m.request)
		}
	}
	return answers
}

// drawRivals returns all rivals in random order.
func (w *Workload) drawRivals() []*Agent { return shuffled(w.arena.random, w.rivals) }

// clashes are the actions of a customer (c) and a contractor (w) that are tried at the same time in each state.
var clashes = map[string][][]string{
	"offered": {
		{"w accept", "w accept"}, {"c cancel", "w accept"}, {"w reject", "w accept"}, {"w accept", "w accept", "w accept"},
	},
	"funded":      {{"w start", "w start"}, {"w start", "c dispute"}, {"c propose-refund", "w start"}},
	"in_progress": {{"w deliver", "w deliver"}, {"w deliver", "c dispute"}, {"c dispute", "w dispute"}},
	"delivered": {
		{"c complete", "c complete"}, {"c complete", "w dispute"}, {"c complete", "c complete", "w propose-refund"},
	},
	"disputed": {
		{"c propose-refund", "w propose-refund"}, {"c approve-refund", "c approve-refund"}, {"w approve-refund", "w approve-refund"},
	},
}

// contendForOrder takes an order from its offer to its end; in each state its sides try two or three actions at once.
func (w *Workload) contendForOrder(ctx context.Context) {
	rivals := w.drawRivals()
	buyer, seller := rivals[0], rivals[1]
	sides := map[string]*Agent{"c": buyer, "w": seller}
	got, _ := buyer.repeat(ctx, buyer.offer(seller, int64(1+w.arena.random.IntN(5000)), true))
	o := w.note(got)
	if o == nil {
		return
	}
	rivals[2].read(ctx, o.id) // it does not take part in the order
	const steps = 10
	replied, rated := false, false
	for range steps {
		state, version := o.seen()
		if len(clashes[state]) == 0 || ctx.Err() != nil {
			break
		}
		if state == "in_progress" && !replied {
			replied = true
			seller.repeat(ctx, keyed(history.DraftSend, o.id, members{"text": "A draft to contend for."}))
			if draft := buyer.newestDraft(ctx, o); draft != "" {
				w.contest(ctx, moving{buyer, reply(o, draft)}, moving{buyer, reply(o, draft)})
			}
		}
		if state == "delivered" && !rated { // too early
			rated = true
			buyer.repeat(ctx, buyer.rating(o))
		}
		var all []moving
		for _, c := range one(w.arena.random, clashes[state]) {
			side, action, _ := strings.Cut(c, " ")
			all = append(all, moving{sides[side], sides[side].move(o, action, version)})
		}
		w.contest(ctx, all...)
		buyer.read(ctx, o.id)
	}
	if state, _ := o.seen(); state == "closed" {
		w.contest(ctx, moving{buyer, buyer.rating(o)}, moving{buyer, buyer.rating(o)}, moving{seller, seller.rating(o)})
	}
}

// contendForWallet makes an agent accept two orders at once, although it can pay for only one.
func (w *Workload) contendForWallet(ctx context.Context) {
	rivals := w.drawRivals()
	buyer := rivals[0]
	var balances struct{ Wallet history.Wallet }
	if buyer.once(ctx, buyer.wallet()).into(&balances) != nil || balances.Wallet.AvailableMinor < 100 {
		return
	}
	amount := balances.Wallet.AvailableMinor * 6 / 11 // with the fee three fifths of the wallet
	var all []moving
	var orders []*order
	for _, seller := range rivals[1:3] {
		got, _ := seller.repeat(ctx, seller.offer(buyer, amount, false))
		o := w.note(got)
		if o == nil {
			return
		}
		orders, all = append(orders, o), append(all, moving{buyer, buyer.move(o, "accept", 1)})
	}
	w.contest(ctx, all...)
	for i, o := range orders {
		buyer.read(ctx, o.id)
		switch state, version := o.seen(); state {
		case "offered":
			got, _ := buyer.repeat(ctx, buyer.move(o, "reject", version))
			w.note(got)
		case "funded": // the money must come back for the next contest
			got, _ := rivals[1+i].repeat(ctx, rivals[1+i].move(o, "propose-refund", version))
			w.note(got)
			w.contest(ctx, moving{buyer, buyer.move(o, "approve-refund", version+1)}, moving{buyer, buyer.move(o, "approve-refund", version+1)})
			buyer.read(ctx, o.id)
		}
	}
}

// contendForContact makes two strangers request friendship at once, and accept and block at once.
func (w *Workload) contendForContact(ctx context.Context) {
	if len(w.arena.strangers) == 0 {
		return
	}
	one, other := w.arena.strangers[0][0], w.arena.strangers[0][1]
	w.arena.strangers = w.arena.strangers[1:]
	w.contest(ctx, moving{one, one.contactRequest(other)}, moving{other, other.contactRequest(one)}, moving{one, one.contactRequest(other)})
	contact, mine := one.contactWith(ctx, other)
	if contact == "" {
		return
	}
	asker, asked := one, other
	if !mine {
		asker, asked = other, one
	}
	accept := moving{asked, asked.acceptance(asker, contact)}
	// They are not friends yet, and only the requested agent may change that.
	w.contest(ctx, moving{asker, asker.seal(asked)}, moving{asked, asked.seal(asker)}, moving{asker, asker.acceptance(asked, contact)})
	if ctx.Err() != nil {
		return // unanswered requests are repeated at the end, and they must not be friends by then
	}
	switch w.arena.random.IntN(4) {
	case 0:
		w.contest(ctx, accept, moving{asker, asker.block(asked, contact)})
		w.contest(ctx, moving{asked, asked.seal(asker)})
	case 1:
		w.contest(ctx, accept, accept, moving{asker, asker.acceptance(asked, contact)})
	case 2:
		w.contest(ctx, accept, accept)
		w.contest(ctx, moving{one, one.block(other, contact)}, moving{other, other.block(one, contact)}, accept)
		w.contest(ctx, accept, moving{one, one.contactRequest(other)})
		w.contest(ctx, moving{one, one.seal(other)}, moving{other, other.seal(one)}) // they are not friends any more
	default:
		w.contest(ctx, accept, accept)
	}
}

// contendForNonce sends messages at once with one nonce, by one sender to two agents or by two agents to each other, or with one
// id.
func (w *Workload) contendForNonce(ctx context.Context) {
	rivals, nonce := w.drawRivals(), newNonce()
	one, other := rivals[0], rivals[1]
	first := one.sealAs(uuid.NewString(), other, nonce)
	second := moving{one, request{}}
	switch w.arena.random.IntN(5) {
	case 0:
		second = moving{other, other.sealAs(uuid.NewString(), one, nonce)}
	case 1:
		second.request = one.sealAs(uuid.NewString(), other, nonce)
	case 2, 3: // one id with two nonces
		second.request = one.sealAs(first.id, other, newNonce())
		second.changed = "nonce"
	default:
		second.request = one.sealAs(uuid.NewString(), rivals[2], nonce)
	}
	w.contest(ctx, moving{one, first}, second)
}

// contendForTask makes a task's customer select two responses at once, or select during a close of the task or a withdrawal.
func (w *Workload) contendForTask(ctx context.Context) {
	rivals := w.drawRivals()
	buyer := rivals[0]
	t := buyer.postTask(ctx)
	if t == nil {
		return
	}
	for _, a := range rivals[1:3] {
		a.respond(ctx, t)
	}
	one, other := t.respondedBy(rivals[1]), t.respondedBy(rivals[2])
	if one == nil || other == nil {
		return
	}
	all := []moving{{buyer, one.selection()}, {buyer, other.selection()}}
	switch w.arena.random.IntN(4) {
	case 0:
		all[1] = moving{buyer, t.closing()}
	case 1:
		all[1] = moving{one.author, one.request(history.ResponseWithdraw, nil)}
	case 2:
		all[1] = moving{buyer, one.selection()}
	}
	for i, got := range w.contest(ctx, all...) {
		if all[i].operation == history.TaskSelect {
			buyer.noteSelection(t, got, true)
		}
	}
	t.end()
	buyer.once(ctx, request{operation: history.ResponseList, subject: t.id})
}

// contendForUpload sends a file twice at once under one id with different names, or more files at once than an agent may.
func (w *Workload) contendForUpload(ctx context.Context) {
	a := w.drawRivals()[0]
	if w.arena.random.IntN(2) == 0 {
		r := upload(uuid.NewString(), picture(w.arena.random), "one.png")
		other, _ := r.differing()
		w.contest(ctx, moving{a, r}, moving{a, other})
		return
	}
	all := make([]moving, 5)
	for i := range all {
		all[i] = moving{a, upload(uuid.NewString(), picture(w.arena.random), "many.png")}
	}
	w.contest(ctx, all...)
}
