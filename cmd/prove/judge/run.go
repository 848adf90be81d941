package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// run is a history with indexes that several checks use.
type run struct {
	*history.History
	// lost holds the things that restores may have undone.
	lost *lost
	// handles maps agents' ids to handles, ids the reverse.
	handles, ids map[string]string
	// all are the attempts, by are the same by operation.
	all []*history.Attempt
	by  map[string][]*history.Attempt
	// requests are the attempts with an id, grouped, in the order of their first attempts. byID finds them by their id alone.
	requests []*request
	byID     map[string][]*request
	// changed are the attempts that differ from the answered request under their id.
	changed []*history.Attempt
	// orders are the final answers of GET /orders/{id} by id, or before the end the last answers of requests.
	orders map[string]*answer
	// ofOrders are the requests about an order, by its id.
	ofOrders map[string][]*request
	// made are the first answers that showed a response to a task, by its id.
	made map[string]*history.Attempt
	// customers are the handles of the tasks' customers, challenges the answered requests for a code by the id of the challenge.
	customers  map[string]string
	challenges map[string]*history.Attempt
	// messages are all messages, sendings the same by sender and client_message_id, nonces by their nonce.
	messages []*sending
	sendings map[[2]string]*sending
	nonces   map[string][]*sending
	// product holds the written values of profiles and posts.
	product *product
	// events are the readable deliveries in the order in which they came. causes are the requests that caused them.
	events []*event
	causes map[content]cause
	// byStart are the faults in the order in which they began.
	byStart []history.Fault
	// acked is when the first ack of an agent and event was answered.
	acked map[[2]string]time.Duration
}

// request is an agent's request under one id, with all attempts.
type request struct {
	agent, id string
	attempts  []*history.Attempt
}

func newRun(recorded *history.History) *run {
	h, lost := losing(recorded)
	r := &run{
		History: h, lost: lost, handles: make(map[string]string), ids: make(map[string]string), by: make(map[string][]*history.Attempt),
		byID: make(map[string][]*request), ofOrders: make(map[string][]*request), made: make(map[string]*history.Attempt),
		customers: make(map[string]string), challenges: make(map[string]*history.Attempt), acked: make(map[[2]string]time.Duration),
	}
	r.byStart = slices.SortedFunc(slices.Values(h.Faults), func(a, b history.Fault) int { return cmp.Compare(a.Start, b.Start) })
	for i := range h.Attempts {
		r.add(&h.Attempts[i])
	}
	for i := range recorded.Attempts { // also tasks that a restore may have undone
		if a := &recorded.Attempts[i]; a.Operation == history.TaskCreate && a.Succeeded() {
			r.customers[got(a).Task.ID] = a.Agent
		}
	}
	for _, q := range r.requests {
		slices.SortStableFunc(q.attempts, func(a, b *history.Attempt) int { return cmp.Compare(a.Start, b.Start) })
	}
	slices.SortStableFunc(r.requests, func(a, b *request) int { return cmp.Compare(a.start(), b.start()) })
	r.findOrders()
	r.findSendings()
	r.product = newProduct(r)
	r.findEvents()
	return r
}

// add notes an attempt.
func (r *run) add(a *history.Attempt) {
	r.all, r.by[a.Operation] = append(r.all, a), append(r.by[a.Operation], a)
	switch {
	case !a.Succeeded():
	case a.Operation == history.Register:
		id := got(a).Bot.ID
		r.handles[id], r.ids[a.Subject] = a.Subject, id
	case a.Operation == history.OwnerRequest:
		r.challenges[got(a).ChallengeID] = a
	case a.Operation == history.TaskRespond:
		if id := got(a).Response.ID; id != "" && (r.made[id] == nil || a.End < r.made[id].End) {
			r.made[id] = a
		}
	}
	switch {
	case a.ID == "":
	case a.Changed != "":
		r.changed = append(r.changed, a)
	default:
		q := r.request(a.Agent, a.ID)
		if q == nil {
			q = &request{agent: a.Agent, id: a.ID}
			r.requests, r.byID[a.ID] = append(r.requests, q), append(r.byID[a.ID], q)
		}
		q.attempts = append(q.attempts, a)
	}
}

// request finds an agent's request under an id, or nil.
func (r *run) request(agent, id string) *request {
	for _, q := range r.byID[id] {
		if q.agent == agent {
			return q
		}
	}
	return nil
}

// findOrders fills orders and ofOrders.
func (r *run) findOrders() {
	r.orders = make(map[string]*answer)
	for id, body := range r.Final.Orders {
		b := new(answer)
		if json.Unmarshal(body, b) == nil && b.Order.ID == id {
			r.orders[id] = b
		}
	}
	for _, q := range r.requests {
		a := q.succeeded()
		if r.Final.Orders != nil || a == nil || !strings.HasPrefix(a.Operation, "order.") {
			continue
		}
		if b := got(a); b.Order.ID != "" {
			r.orders[b.Order.ID] = b
		}
	}
	for _, q := range r.requests {
		if id := r.orderOf(q); id != "" {
			r.ofOrders[id] = append(r.ofOrders[id], q)
		}
	}
}

// of returns the attempts at some operations, or all.
func (r *run) of(operations ...string) (all []*history.Attempt) {
	if len(operations) == 0 {
		return r.all
	}
	for _, operation := range operations {
		all = append(all, r.by[operation]...)
	}
	return all
}

// answered returns the successful attempts at some operations.
func (r *run) answered(operations ...string) []*history.Attempt {
	return slices.DeleteFunc(r.of(operations...), func(a *history.Attempt) bool { return !a.Succeeded() })
}

// end returns a time later than any attempt.
func (r *run) end() time.Duration {
	end := r.Length
	for _, a := range r.all {
		end = max(end, a.End)
	}
	return end + 1
}

func (q *request) operation() string    { return q.attempts[0].Operation }
func (q *request) start() time.Duration { return q.attempts[0].Start }

// succeeded returns the attempt whose success was answered first, or nil.
func (q *request) succeeded() (first *history.Attempt) {
	for _, a := range q.attempts {
		if a.Succeeded() && (first == nil || a.End < first.End) {
			first = a
		}
	}
	return first
}

// begun returns when the first attempt began that may have had the request's effect.
func (q *request) begun() time.Duration {
	if i := slices.IndexFunc(q.attempts, mayHaveActed); i >= 0 {
		return q.attempts[i].Start
	}
	return q.start()
}

// isUnknown reports whether an attempt has an unknown effect.
func (q *request) isUnknown() bool { return slices.ContainsFunc(q.attempts, unknown) }

// keyed reports whether a request has an idempotency key. The id of a post is its title only.
func (q *request) keyed() bool { return q.operation() != history.PostCreate }

func (q *request) String() string { return fmt.Sprintf("%s %s of %s", q.operation(), q.id, q.agent) }

// unknown reports whether the effect of an attempt is unknown: its answer never came, or reports only a failure.
func unknown(a *history.Attempt) bool { return a.Status == history.Unanswered || a.Status >= 500 }

// mayHaveActed reports whether an attempt took effect or may have.
func mayHaveActed(a *history.Attempt) bool { return a.Succeeded() || unknown(a) }

// settled reports whether the request itself was answered. A rotated token, a slow body and a limit are found before the request
// is processed (§1.6), and an upload under the same id may be unfinished (§4.8): then it may be repeated.
func settled(a *history.Attempt) bool {
	switch a.Status {
	case http.StatusUnauthorized, http.StatusRequestTimeout:
		return false
	case http.StatusTooManyRequests:
		return a.Code == "storage_quota_exceeded" // waiting does not help
	}
	return !unknown(a) && a.Code != "upload_unavailable"
}

type fits func(a *history.Attempt) bool

// is selects attempts at some operations.
func is(operations ...string) fits {
	return func(a *history.Attempt) bool { return slices.Contains(operations, a.Operation) }
}

// did reports whether one of some attempts had certainly acted before a moment; may reports whether one may have.
func did(all []*history.Attempt, before time.Duration, which fits) bool {
	return slices.ContainsFunc(all, func(a *history.Attempt) bool { return a.Succeeded() && a.End < before && which(a) })
}

func may(all []*history.Attempt, before time.Duration, which fits) bool {
	return slices.ContainsFunc(all, func(a *history.Attempt) bool { return mayHaveActed(a) && a.Start < before && which(a) })
}

func count(all []*history.Attempt, which fits) (n int) {
	for _, a := range all {
		if which(a) {
			n++
		}
	}
	return n
}

// distinct counts the different texts of the attempts that may have acted before a moment.
func distinct(all []*history.Attempt, before time.Duration, text func(a *history.Attempt) string, which fits) int {
	texts := make(map[string]bool)
	for _, a := range all {
		if mayHaveActed(a) && a.Start < before && which(a) {
			texts[text(a)] = true
		}
	}
	return len(texts)
}

func idOf(a *history.Attempt) string { return a.ID }

func by(agent string) fits { return func(a *history.Attempt) bool { return a.Agent == agent } }

func about(subject string) fits { return func(a *history.Attempt) bool { return a.Subject == subject } }

// each judges every attempt at some operations, or at all: broken returns the complaint, or nothing.
func each(broken func(r *run, a *history.Attempt) string, operations ...string) func(r *run, f *Finding) {
	return func(r *run, f *Finding) {
		for _, a := range r.of(operations...) {
			f.Looked++
			if why := broken(r, a); why != "" {
				f.violatedf("%s%s", Describe(a), why)
			}
		}
	}
}

// Describe names an attempt in a violation.
func Describe(a *history.Attempt) string {
	who, about := cmp.Or(a.Agent, "someone"), a.Subject
	if a.ID != "" {
		about += " as " + a.ID
	}
	if a.Version > 0 {
		about += fmt.Sprintf(" at version %d", a.Version)
	}
	text := fmt.Sprintf("%s by %s (%s) from %s to %s: ", a.Operation, who, about, clock(a.Start), clock(a.End))
	if a.Status == history.Unanswered {
		return text + "no answer, " + cmp.Or(a.Failure, "reason unknown")
	}
	text = strings.TrimSuffix(text+strconv.Itoa(a.Status)+" "+a.Code, " ")
	if a.Process != "" {
		text += " by " + a.Process
	}
	return text
}

// clock writes a time of the history, such as 83.250s.
func clock(t time.Duration) string { return fmt.Sprintf("%.3fs", t.Seconds()) }

// sorted returns the keys of a map in order, so that two judgements of a history are identical.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
