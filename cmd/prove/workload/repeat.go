package workload

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"

	"stoa/cmd/prove/history"
)

const (
	// twiceOneOf is of how many first requests one is made twice at the same moment, againOneOf of how many answered ones one is made
	// again at once.
	twiceOneOf, againOneOf = 12, 10
	// rareOneOf is againOneOf of the kinds that a run has few of.
	rareOneOf = 3
	// remembered bounds the answered requests that an agent may make again later.
	remembered = 60
)

// repeatable are the kinds of requests that are made again, with the member that differs in the changed ones; it is empty if a
// change would be another request.
var repeatable = map[string]struct {
	oneOf  int
	member string
	// now says that they are made again at once, and not later: the answer shows the present state.
	now bool
}{
	history.MessageSend:        {oneOf: againOneOf, member: "ciphertext"},
	history.FileUpload:         {oneOf: rareOneOf, member: "file"},
	history.OrderCreate:        {oneOf: againOneOf, member: "title"},
	history.OrderAccept:        {oneOf: againOneOf, member: "expected_version"},
	history.OrderReject:        {oneOf: rareOneOf, member: "expected_version"},
	history.OrderCancel:        {oneOf: rareOneOf, member: "expected_version"},
	history.OrderStart:         {oneOf: againOneOf, member: "expected_version"},
	history.OrderDeliver:       {oneOf: againOneOf, member: "result_text"},
	history.OrderComplete:      {oneOf: againOneOf, member: "expected_version"},
	history.OrderDispute:       {oneOf: rareOneOf, member: "reason"},
	history.OrderProposeRefund: {oneOf: rareOneOf, member: "reason"},
	history.OrderApproveRefund: {oneOf: rareOneOf, member: "expected_version"},
	history.OrderRate:          {oneOf: rareOneOf, member: "stars"},
	history.DraftSend:          {oneOf: rareOneOf, member: "text"},
	history.DraftReply:         {oneOf: rareOneOf, member: "text"},
	history.TaskRespond:        {oneOf: rareOneOf, member: "text", now: true},
	history.TaskSelect:         {oneOf: rareOneOf, member: "confirmed_total_minor"},
	history.OwnerVerify:        {oneOf: rareOneOf, now: true},
	history.Register:           {oneOf: 1, member: "display_name"},
}

// roll returns a number below n, from a source that all of the agent may use.
func (a *Agent) roll(n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dice.IntN(n)
}

// bearer returns the agent's token.
func (a *Agent) bearer() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.token
}

// twoServers draws two servers, different ones if there are.
func (a *Agent) twoServers() (one, other string) {
	n := len(a.w.servers)
	i := a.roll(n)
	if n == 1 {
		return a.w.servers[0], a.w.servers[0]
	}
	return a.w.servers[i], a.w.servers[(i+1+a.roll(n-1))%n]
}

// together begins all functions at the same moment and returns when all have returned.
func together(all ...func()) {
	var ready, running sync.WaitGroup
	begin := make(chan struct{})
	ready.Add(len(all))
	for _, do := range all {
		running.Go(func() {
			ready.Done()
			<-begin
			do()
		})
	}
	ready.Wait()
	close(begin)
	running.Wait()
}

// pair makes two requests at the same moment, through different servers.
func (a *Agent) pair(ctx context.Context, one, other request) (first, second answer) {
	one.server, other.server = a.twoServers()
	together(func() { first = a.once(ctx, one) }, func() { second = a.once(ctx, other) })
	return first, second
}

// attempt makes a request once, or, if it is the first attempt, sometimes twice at the same moment.
func (a *Agent) attempt(ctx context.Context, r request, first bool) answer {
	if _, known := repeatable[r.operation]; !known || !first || a.roll(twiceOneOf) > 0 {
		return a.once(ctx, r)
	}
	one, other := a.pair(ctx, r, r)
	if one.succeeded() || one.final() && !other.final() {
		return one
	}
	return other
}

// answered makes a request again that was answered, sometimes, and remembers it for later.
func (a *Agent) answered(ctx context.Context, r request, got answer) {
	kind, known := repeatable[r.operation]
	if !known || !got.succeeded() {
		return
	}
	if a.roll(kind.oneOf) == 0 {
		a.again(ctx, r)
	}
	if kind.now {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.answers) == remembered {
		a.answers = a.answers[1:]
	}
	a.answers = append(a.answers, r)
}

// recall makes a request again that was answered a while ago.
func (a *Agent) recall(ctx context.Context) {
	a.mu.Lock()
	var r request
	if len(a.answers) > 0 {
		r = a.answers[a.dice.IntN(len(a.answers))]
	}
	a.mu.Unlock()
	if r.operation != "" {
		a.again(ctx, r)
	}
}

// again makes an answered request again: once, twice at the same moment, with a member changed, or both at the same moment.
func (a *Agent) again(ctx context.Context, r request) {
	changed, ok := r.differing()
	switch way := a.roll(4); {
	case way == 0 && ok:
		a.once(ctx, changed)
	case way == 1 && ok:
		a.pair(ctx, r, changed)
	case way == 2:
		a.pair(ctx, r, r)
	default:
		r.server, _ = a.twoServers()
		a.once(ctx, r)
	}
}

// differing returns a request with one member changed under the same id; ok is false if there is no such request.
func (r request) differing() (changed request, ok bool) {
	member := repeatable[r.operation].member
	switch {
	case member == "":
		return r, false
	case r.variant != nil:
		changed = r.variant()
		changed.changed = member
		return changed, true
	}
	var body map[string]any
	raw, err := json.Marshal(r.body)
	if err != nil || json.Unmarshal(raw, &body) != nil {
		return r, false
	}
	switch value := body[member].(type) {
	case string:
		body[member] = otherText(member, value)
	case float64:
		body[member] = otherNumber(member, value)
	default:
		return r, false
	}
	r.body, r.changed = body, member
	return r, true
}

// otherText returns another text that the member may hold.
func otherText(member, text string) string {
	sealed, err := base64.StdEncoding.DecodeString(text)
	if member != "ciphertext" || err != nil || len(sealed) == 0 {
		return strings.TrimSpace(text) + " indeed"
	}
	sealed[0] ^= 1
	return encode(sealed)
}

// otherNumber returns another number that the member may hold.
func otherNumber(member string, number float64) float64 {
	if member == "stars" && number > 1 {
		return number - 1
	}
	return number + 1
}
