package workload

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"stoa/cmd/prove/history"
)

const (
	// rivals is how many agents do nothing but contend with each other.
	rivals = 6
	// contentionPace is the mean time between two contentions.
	contentionPace = 400 * time.Millisecond
)

// heldOneOf is in how many contests writes to one of the contended tables are held while the requests begin.
const heldOneOf = 3

var contended = []string{
	"orders", "accounts", "contacts", "message_guards", "tasks", "responses", "attachments", "drafts", "ratings", "operations", "email_challenges",
	"posts",
}

// arena is the agents that contend. It belongs to contend.
type arena struct {
	random *rand.Rand
	// strangers are pairs of agents of the run that have no contact yet.
	strangers [][2]*Agent
	// challenges counts the addresses that were named.
	challenges int
}

// contentions are requests of several agents at the same moment through different servers. At most one of them may succeed.
var contentions = []struct {
	weight int
	do     func(w *Workload, ctx context.Context)
}{
	{4, (*Workload).contendForOrder},
	{2, (*Workload).contendForWallet},
	{3, (*Workload).contendForContact},
	{2, (*Workload).contendForNonce},
	{2, (*Workload).contendForTask},
	{2, (*Workload).contendForUpload},
	{1, (*Workload).contendForChallenge},
	{2, (*Workload).contendForPost},
}

// newRivals registers the agents that contend, and befriends them all.
func (w *Workload) newRivals(ctx context.Context) error {
	for i := range rivals {
		a, err := w.newAgent(ctx, fmt.Sprintf("rival_%d", i))
		if err != nil {
			return err
		}
		for _, other := range w.rivals {
			if err := a.befriend(ctx, other); err != nil {
				return err
			}
		}
		w.rivals = append(w.rivals, a)
	}
	w.arena.random = w.random(1 << 34)
	for i, a := range w.Agents {
		for _, other := range w.Agents[:i] {
			if !a.isFriend(other) {
				w.arena.strangers = append(w.arena.strangers, [2]*Agent{a, other})
			}
		}
	}
	w.arena.random.Shuffle(len(w.arena.strangers), func(i, j int) {
		s := w.arena.strangers
		s[i], s[j] = s[j], s[i]
	})
	return nil
}

// contend has agents contend until ctx ends. It runs beside all that the agents do.
func (w *Workload) contend(ctx context.Context) {
	total := 0
	for _, c := range contentions {
		total += c.weight
	}
	for w.rivals[0].pause(ctx, time.Duration(w.arena.random.ExpFloat64()*float64(contentionPace))) {
		drawn := w.arena.random.IntN(total)
		for _, c := range contentions {
			if drawn -= c.weight; drawn < 0 {
				c.do(w, ctx)
				break
			}
		}
	}
}

// moving is a request of an agent.
type moving struct {
	agent *Agent
	request
}

// contest makes all requests at the same moment, each through another server as far as there are.
func (w *Workload) contest(ctx context.Context, all ...moving) []answer {
	first := w.arena.random.IntN(len(w.servers))
	answers := make([]answer, len(all))
	var begin []func()
	for i, m := range all {
		m.server = w.servers[(first+i)%len(w.servers)]
		begin = append(begin, func() { answers[i] = m.agent.once(ctx, m.request) })
	}
	if w.arena.random.IntN(heldOneOf) == 0 {
		w.bed.HoldWrites(ctx, contended[w.arena.random.IntN(len(contended))], held)
	}
	together(begin...)
	for i, m := range all {
		if m.id != "" && !answers[i].final() { // it must get an answer
			answers[i], _ = m.agent.repeat(ctx, m.request)
		}
	}
	return answers
}

// drawRivals returns all rivals in any order.
func (w *Workload) drawRivals() []*Agent {
	drawn := slices.Clone(w.rivals)
	w.arena.random.Shuffle(len(drawn), func(i, j int) { drawn[i], drawn[j] = drawn[j], drawn[i] })
	return drawn
}

// clashes are operations that customer (true) and contractor (false) try at the same moment in each state.
var clashes = map[string][][]struct {
	customer  bool
	operation string
}{
	"offered": {
		{{false, "accept"}, {false, "accept"}}, {{true, "cancel"}, {false, "accept"}}, {{false, "reject"}, {false, "accept"}},
		{{false, "accept"}, {false, "accept"}, {false, "accept"}},
	},
	"funded": {
		{{false, "start"}, {false, "start"}}, {{false, "start"}, {true, "dispute"}}, {{true, "propose-refund"}, {false, "start"}},
	},
	"in_progress": {
		{{false, "deliver"}, {false, "deliver"}}, {{false, "deliver"}, {true, "dispute"}}, {{true, "dispute"}, {false, "dispute"}},
	},
	"delivered": {
		{{true, "complete"}, {true, "complete"}}, {{true, "complete"}, {false, "dispute"}},
		{{true, "complete"}, {true, "complete"}, {false, "propose-refund"}},
	},
	"disputed": {
		{{true, "propose-refund"}, {false, "propose-refund"}}, {{true, "approve-refund"}, {true, "approve-refund"}},
		{{false, "approve-refund"}, {false, "approve-refund"}},
	},
}

// contendForOrder leads an order from its offer to its end; in each state its sides try two or three things at once.
func (w *Workload) contendForOrder(ctx context.Context) {
	drawn := w.drawRivals()
	customer, contractor := drawn[0], drawn[1]
	got, _ := customer.repeat(ctx, customer.offer(contractor, int64(1+w.arena.random.IntN(5000)), true))
	o := w.made(got)
	if o != nil {
		drawn[2].read(ctx, o.id) // it has no part in it
	}
	const steps = 10
	replied := false
	for step := 0; o != nil && step < steps && ctx.Err() == nil; step++ {
		state, version := o.seen()
		if len(clashes[state]) == 0 {
			break
		}
		if state == "in_progress" && !replied {
			w.contendForReply(ctx, o, customer, contractor)
			replied = true
		}
		var all []moving
		for _, c := range clashes[state][w.arena.random.IntN(len(clashes[state]))] {
			agent := contractor
			if c.customer {
				agent = customer
			}
			all = append(all, moving{agent, agent.move(o, c.operation, version)})
		}
		w.contest(ctx, all...)
		customer.read(ctx, o.id)
	}
	if o == nil {
		return
	}
	if state, _ := o.seen(); state == "closed" {
		w.contest(ctx, moving{customer, customer.rating(o)}, moving{customer, customer.rating(o)}, moving{contractor, contractor.rating(o)})
	}
}

// contendForReply has the customer of an order reply twice to one draft.
func (w *Workload) contendForReply(ctx context.Context, o *order, customer, contractor *Agent) {
	id := uuid.NewString()
	contractor.repeat(ctx, request{operation: history.DraftSend, id: id, subject: o.id, method: http.MethodPost,
		path: "/orders/" + o.id + "/drafts", keep: true, body: map[string]any{"operation_id": id, "text": "A draft to contend for."}})
	if draft := customer.newestDraft(ctx, o); draft != "" {
		w.contest(ctx, moving{customer, reply(o, draft)}, moving{customer, reply(o, draft)})
	}
}

// made notes the order of an answer and returns it, or nil.
func (w *Workload) made(got answer) *order {
	var made struct{ Order card }
	if !got.succeeded() || got.into(&made) != nil {
		return nil
	}
	return w.orders.note(made.Order)
}

// contendForWallet has an agent accept two orders at once, although it can pay only one.
func (w *Workload) contendForWallet(ctx context.Context) {
	drawn := w.drawRivals()
	customer := drawn[0]
	got := customer.once(ctx, request{operation: history.WalletGet, subject: customer.Handle, method: http.MethodGet, path: "/wallet", keep: true})
	var balances struct{ Wallet history.Wallet }
	if !got.succeeded() || got.into(&balances) != nil || balances.Wallet.AvailableMinor < 100 {
		return
	}
	amount := balances.Wallet.AvailableMinor * 6 / 11 // with the fee three fifths
	var all []moving
	var orders []*order
	for _, contractor := range drawn[1:3] {
		got, _ := contractor.repeat(ctx, contractor.offer(customer, amount, false))
		o := w.made(got)
		if o == nil {
			return
		}
		orders = append(orders, o)
		all = append(all, moving{customer, customer.move(o, "accept", 1)})
	}
	w.contest(ctx, all...)
	for i, o := range orders {
		contractor := drawn[1+i]
		customer.read(ctx, o.id)
		switch state, version := o.seen(); state {
		case "offered":
			w.made(first(customer.repeat(ctx, customer.move(o, "reject", version))))
		case "funded": // the money must come back for the next time
			w.made(first(contractor.repeat(ctx, contractor.move(o, "propose-refund", version))))
			w.contest(ctx, moving{customer, customer.move(o, "approve-refund", version+1)}, moving{customer, customer.move(o, "approve-refund", version+1)})
			customer.read(ctx, o.id)
		}
	}
}

func first(got answer, _ bool) answer { return got }

// contendForContact has two strangers ask each other for friendship at once, and accept and block at once.
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
	// They are no friends yet, and only the one that was asked may change that.
	w.contest(ctx, moving{asker, asker.seal(asked, newNonce())}, moving{asked, asked.seal(asker, newNonce())},
		moving{asker, asker.acceptance(asked, contact)})
	if ctx.Err() != nil {
		return // what had no answer is sent again at the end, and they must not be friends by then
	}
	switch w.arena.random.IntN(4) {
	case 0:
		w.contest(ctx, accept, moving{asker, asker.block(asked, contact)})
		w.contest(ctx, moving{asked, asked.seal(asker, newNonce())})
	case 1:
		w.contest(ctx, accept, accept, moving{asker, asker.acceptance(asked, contact)})
	case 2:
		w.contest(ctx, accept, accept)
		w.contest(ctx, moving{one, one.block(other, contact)}, moving{other, other.block(one, contact)}, accept)
		w.contest(ctx, accept, moving{one, one.contactRequest(other)})
		w.contest(ctx, moving{one, one.seal(other, newNonce())}, moving{other, other.seal(one, newNonce())}) // they are friends no more
	default:
		w.contest(ctx, accept, accept)
	}
}

// contendForNonce has messages sent at once under one nonce: by one sender to two agents, or by two agents to each other; or under one
// id.
func (w *Workload) contendForNonce(ctx context.Context) {
	drawn, nonce := w.drawRivals(), newNonce()
	one, other := drawn[0], drawn[1]
	all := []moving{{one, one.seal(other, nonce)}, {one, one.seal(drawn[2], nonce)}}
	switch w.arena.random.IntN(5) {
	case 0:
		all[1] = moving{other, other.seal(one, nonce)}
	case 1:
		all[1] = moving{one, one.seal(other, nonce)}
	case 2, 3: // one id with two nonces
		again := one.sealAs(all[0].id, other, newNonce())
		again.changed = "nonce"
		all[1] = moving{one, again}
	}
	w.contest(ctx, all...)
}

// contendForTask has a task's customer select two responses at once, or select while the task closes or the response is withdrawn.
func (w *Workload) contendForTask(ctx context.Context) {
	drawn := w.drawRivals()
	customer := drawn[0]
	before := len(w.tasks.list(func(t *task) bool { return t.customer == customer }))
	customer.postTask(ctx)
	own := w.tasks.list(func(t *task) bool { return t.customer == customer })
	if len(own) == before {
		return
	}
	t := own[len(own)-1]
	for _, a := range drawn[1:3] {
		a.respond(ctx, t)
	}
	one, other := t.respondedBy(drawn[1]), t.respondedBy(drawn[2])
	if one == nil || other == nil {
		return
	}
	all := []moving{{customer, one.selection()}, {customer, other.selection()}}
	switch w.arena.random.IntN(4) {
	case 0:
		all[1] = moving{customer, t.closing()}
	case 1:
		all[1] = moving{one.author, one.withdrawal()}
	case 2:
		all[1] = moving{customer, one.selection()}
	}
	for i, got := range w.contest(ctx, all...) {
		if all[i].operation == history.TaskSelect {
			customer.noteSelection(t, got, true)
		}
	}
	t.end()
	customer.once(ctx, request{operation: history.ResponseList, subject: t.id, method: http.MethodGet, path: "/tasks/" + t.id + "/responses", keep: true})
}

// contendForUpload sends one file twice at once under one id and different names, or more files than an agent may send at once.
func (w *Workload) contendForUpload(ctx context.Context) {
	a := w.drawRivals()[0]
	if w.arena.random.IntN(2) == 0 {
		r := upload(uuid.NewString(), picture(w.arena.random), "one.png")
		other, _ := r.differing()
		w.contest(ctx, moving{a, r}, moving{a, other})
		return
	}
	const atOnce = 5
	var all []moving
	for range atOnce {
		all = append(all, moving{a, upload(uuid.NewString(), picture(w.arena.random), "many.png")})
	}
	w.contest(ctx, all...)
}

// contendForChallenge enters five wrong codes at once, which end the challenge, and then the right one.
func (w *Workload) contendForChallenge(ctx context.Context) {
	a := w.drawRivals()[0]
	w.arena.challenges++
	o := &a.owner
	o.family = ""
	o.others = 1_000_000 + w.arena.challenges
	mail, ok := a.confirmed(ctx, 10*time.Second)
	if !ok {
		return
	}
	var all []moving
	for _, wrong := range wrongCodes(mail.Code, guesses) {
		all = append(all, moving{a, a.guess(wrong)})
	}
	w.contest(ctx, all...)
	a.verifyOwner(ctx)
}
