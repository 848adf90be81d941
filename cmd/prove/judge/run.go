package judge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"stoa/cmd/prove/history"
)

// run is a history with what several checks look up in it.
type run struct {
	*history.History
	// lost holds the things that restores may have undone.
	lost *lost
	// handles are the handles of the members by their ids, ids the reverse.
	handles, ids map[string]string
	// requests are the attempts with an id, grouped, in the order of their first attempts. byID finds them by their id alone.
	requests []*request
	byID     map[string][]*request
	// changed are the attempts that differ from what was answered under their ids.
	changed []*history.Attempt
	// orders are the final answers of GET /orders/{id}, by id.
	orders map[string]*orderAnswer
	// sendings are the messages by sender and client_message_id.
	sendings map[[2]string]*sending
	// nonces are the messages by their nonce.
	nonces map[string][]*sending
	// ofOrders are the requests about an order, by its id. customers are the handles of the tasks' customers.
	ofOrders  map[string][]*request
	customers map[string]string
	// byStart are the faults in the order in which they began.
	byStart []history.Fault
	// announced holds what events of version 2 are about.
	announced *announced
	// product holds the changes of profiles, posts and tasks.
	product *product
	// ofOwners are the attempts at the operations of history.Owner…, by operation. challenges are those of OwnerRequest that were
	// answered, by the id in the answer.
	ofOwners   map[string][]*history.Attempt
	challenges map[string]*history.Attempt
}

// request is an agent's request under one id, with all attempts.
type request struct {
	agent, id string
	attempts  []*history.Attempt
}

func newRun(recorded *history.History) *run {
	h, lost := losing(recorded)
	r := &run{
		History: h, lost: lost, handles: make(map[string]string), ids: make(map[string]string),
		byID: make(map[string][]*request), orders: make(map[string]*orderAnswer),
	}
	r.byStart = slices.SortedFunc(slices.Values(h.Faults), func(a, b history.Fault) int { return cmp.Compare(a.Start, b.Start) })
	for _, m := range h.Members {
		r.handles[m.ID], r.ids[m.Handle] = m.Handle, m.ID
	}
	for i := range h.Attempts {
		a := &h.Attempts[i]
		if a.ID == "" {
			continue
		}
		if a.Changed != "" {
			r.changed = append(r.changed, a)
			continue
		}
		same := slices.IndexFunc(r.byID[a.ID], func(q *request) bool { return q.agent == a.Agent })
		if same < 0 {
			q := &request{agent: a.Agent, id: a.ID}
			r.requests, r.byID[a.ID] = append(r.requests, q), append(r.byID[a.ID], q)
			same = len(r.byID[a.ID]) - 1
		}
		q := r.byID[a.ID][same]
		q.attempts = append(q.attempts, a)
	}
	for _, q := range r.requests {
		slices.SortStableFunc(q.attempts, func(a, b *history.Attempt) int { return cmp.Compare(a.Start, b.Start) })
	}
	slices.SortStableFunc(r.requests, func(a, b *request) int { return cmp.Compare(a.start(), b.start()) })
	r.sendings, r.nonces = newSendings(r), make(map[string][]*sending)
	for _, s := range r.sendings {
		r.nonces[s.Nonce] = append(r.nonces[s.Nonce], s)
	}
	r.product, r.announced = newProduct(r), newAnnounced(r)
	r.customers = customersOf(recorded)
	r.findOwners()
	for id, body := range h.Final.Orders {
		answer := new(orderAnswer)
		if json.Unmarshal(body, answer) == nil && answer.Order.ID == id {
			r.orders[id] = answer
		}
	}
	r.ofOrders = make(map[string][]*request)
	for _, q := range r.requests {
		if id := r.orderOf(q); id != "" {
			r.ofOrders[id] = append(r.ofOrders[id], q)
		}
	}
	return r
}

// end is when everything was over, later than any attempt.
func (r *run) end() time.Duration {
	end := r.Length
	for i := range r.Attempts {
		end = max(end, r.Attempts[i].End)
	}
	return end + 1
}

func (q *request) operation() string    { return q.attempts[0].Operation }
func (q *request) start() time.Duration { return q.attempts[0].Start }

// succeeded returns the attempt whose success was answered first, or nil.
func (q *request) succeeded() *history.Attempt {
	var first *history.Attempt
	for _, a := range q.attempts {
		if a.Succeeded() && (first == nil || a.End < first.End) {
			first = a
		}
	}
	return first
}

// begun is when the first attempt began that may have had the effect of the request.
func (q *request) begun() time.Duration {
	for _, a := range q.attempts {
		if unknown(a) || a.Succeeded() {
			return a.Start
		}
	}
	return q.start()
}

// unknown counts the attempts that may have had an effect or not.
func (q *request) unknown() int {
	count := 0
	for _, a := range q.attempts {
		if unknown(a) {
			count++
		}
	}
	return count
}

func (q *request) String() string { return fmt.Sprintf("%s %s of %s", q.operation(), q.id, q.agent) }

// unknown says that an attempt may have had its effect or not: its answer never came, or says only that something failed.
func unknown(a *history.Attempt) bool { return a.Status == history.Unanswered || a.Status >= 500 }

// settled says that the request itself was answered. A token that was just rotated, a body that came too slowly and a limit are
// found before the request is looked at (§1.6), and an upload under the same id may be unfinished (§4.8): it may be repeated.
func settled(a *history.Attempt) bool {
	switch a.Status {
	case http.StatusUnauthorized, http.StatusRequestTimeout:
		return false
	case http.StatusTooManyRequests:
		return a.Code == "storage_quota_exceeded" // waiting does not help
	}
	return !unknown(a) && a.Code != "upload_unavailable"
}

// processes counts the servers that have answered.
func (r *run) processes() int {
	names := make(map[string]bool)
	for i := range r.Attempts {
		if name := r.Attempts[i].Process; name != "" {
			names[name] = true
		}
	}
	return len(names)
}

// decode reads the Body of an answer. It reports a body that is missing or of another shape as a violation.
func decode[T any](f *Finding, a *history.Attempt) (T, bool) {
	var body T
	if err := json.Unmarshal(a.Body, &body); err != nil {
		f.violatedf("%s has no readable answer: %v", describe(a), err)
		return body, false
	}
	return body, true
}

// describe names an attempt in a violation.
func describe(a *history.Attempt) string {
	who, about := cmp.Or(a.Agent, "someone"), a.Subject
	if a.ID != "" {
		about += " as " + a.ID
	}
	text := fmt.Sprintf("%s by %s (%s) from %s to %s: ", a.Operation, who, about, clock(a.Start), clock(a.End))
	if a.Status == history.Unanswered {
		return text + "no answer, " + cmp.Or(a.Failure, "reason unknown")
	}
	text += strconv.Itoa(a.Status)
	if a.Code != "" {
		text += " " + a.Code
	}
	if a.Process != "" {
		text += " by " + a.Process
	}
	return text
}

// clock writes a time of the history, such as 83.250s.
func clock(t time.Duration) string { return fmt.Sprintf("%.3fs", t.Seconds()) }

// sorted returns the keys of a map in order, so that two judgements of a history read the same.
func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
