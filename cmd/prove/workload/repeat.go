package workload

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"

	"stoa/cmd/prove/history"
)

const (
	// One in twiceOneOf first requests is made twice at the same time.
	twiceOneOf = 12
	// remembered bounds the answered requests that an agent may repeat later.
	remembered = 60
)

// roll returns a number below n, from a source that all methods of the agent may use.
func (a *Agent) roll(n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.dice.IntN(n)
}

type moving struct {
	agent *Agent
	request
}

// atOnce makes requests at the same time, each through another server if there are enough, the first one through server number first.
func (w *Workload) atOnce(ctx context.Context, first int, all ...moving) []answer {
	answers, begin := make([]answer, len(all)), make([]func(), len(all))
	for i, m := range all {
		m.server = w.servers[(first+i)%len(w.servers)]
		begin[i] = func() { answers[i] = m.agent.once(ctx, m.request) }
	}
	together(begin...)
	return answers
}

// twoServers draws two servers, different ones if possible.
func (a *Agent) twoServers() (one, other string) {
	i, n := a.roll(len(a.w.servers)), len(a.w.servers)
	return a.w.servers[i], a.w.servers[(i+1)%n]
}

// pair makes two requests at the same time, through different servers.
func (a *Agent) pair(ctx context.Context, one, other request) (first, second answer) {
	answers := a.w.atOnce(ctx, a.roll(len(a.w.servers)), moving{a, one}, moving{a, other})
	return answers[0], answers[1]
}

// attempt makes a request once. If it is the first attempt, it sometimes makes it twice at the same time.
func (a *Agent) attempt(ctx context.Context, r request, first bool) answer {
	if operations[r.operation].again == 0 || !first || a.roll(twiceOneOf) > 0 {
		return a.once(ctx, r)
	}
	one, other := a.pair(ctx, r, r)
	if one.Succeeded() || one.final() && !other.final() {
		return one
	}
	return other
}

// answered sometimes repeats an answered request, and remembers it for later.
func (a *Agent) answered(ctx context.Context, r request, got answer) {
	o := operations[r.operation]
	if o.again == 0 || !got.Succeeded() {
		return
	}
	if a.roll(o.again) == 0 {
		a.again(ctx, r)
	}
	if o.present {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.answers = append(a.answers[max(0, len(a.answers)+1-remembered):], r)
}

// recall repeats a request that was answered a while ago.
func (a *Agent) recall(ctx context.Context) {
	a.mu.Lock()
	var r request
	if len(a.answers) > 0 {
		r = one(a.dice, a.answers)
	}
	a.mu.Unlock()
	if r.operation != "" {
		a.again(ctx, r)
	}
}

// again repeats an answered request: once, twice at the same time, with a member changed, or both at the same time.
func (a *Agent) again(ctx context.Context, r request) {
	changed, ok := r.differing()
	ok = ok && (r.operation != history.TaskRespond || !a.w.older()) // 0.2.0 has another code for it
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
	name := operations[r.operation].member
	if name == "" {
		return r, false
	}
	if r.variant != nil {
		changed = r.variant()
		changed.changed = name
		return changed, true
	}
	var body members
	if json.Unmarshal(content(r.body).raw, &body) != nil {
		return r, false
	}
	switch value := body[name].(type) {
	case string:
		body[name] = otherText(name, value)
	case float64:
		body[name] = value + 1
		if name == "stars" && value > 1 {
			body[name] = value - 1
		}
	default:
		return r, false
	}
	r.body, r.changed = body, name
	return r, true
}

// otherText returns another text that the member may hold.
func otherText(name, text string) string {
	sealed, err := base64.StdEncoding.DecodeString(text)
	if name != operations[history.MessageSend].member || err != nil || len(sealed) == 0 {
		return strings.TrimSpace(text) + " indeed"
	}
	sealed[0] ^= 1
	return base64.StdEncoding.EncodeToString(sealed)
}
