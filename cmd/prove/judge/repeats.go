package judge

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"stoa/cmd/prove/history"
)

// unmarked are the operations with an id whose repeats are not marked as stored answers: the client does not choose it (§1.8).
var unmarked = is(history.TaskRespond, history.OwnerVerify, history.Register)

// mayChange names the members that may differ in a later answer to the same request, with the reason. Members that are not listed
// may not differ.
var mayChange = map[string]map[string]string{
	history.TaskRespond: {
		"response.state":        "a response to a task is no stored answer: it shows what has become of it (§4.9)",
		"response.updated_at":   "it shows when the state changed",
		"response.text":         "its author may change the text",
		"response.amount_minor": "its author may change the price",
		"response.fee_minor":    "its author may change the price",
		"response.total_minor":  "its author may change the price",
		"response.bot":          "the author's card is that of the day",
	},
	history.OwnerVerify: {
		"email_verification.restricted_from": "the day until which an agent needs an owner depends on its state (§3.4)",
	},
	history.Register: {
		"bot.last_active_at": "any request is activity (§3.4)",
		"bot.key_log":        "the key log has the agent's entry some seconds later (§12.2)",
		"bot.profile":        "the agent may have changed it",
		"bot.updated_at":     "the agent may have changed its profile",
	},
}

func checkSettled(r *run, f *Finding) {
	for _, q := range r.requests {
		switch {
		case q.isUndone():
			f.Excused++
		case q.keyed():
			f.Looked++
			if !slices.ContainsFunc(q.attempts, settled) {
				f.violatedf("%s was never settled in %d attempts, the last: %s", q, len(q.attempts), Describe(q.attempts[len(q.attempts)-1]))
			}
		}
	}
}

func checkRepeats(r *run, f *Finding) {
	for _, q := range r.requests {
		if q.keyed() && q.succeeded() != nil {
			checkSameRequest(q, f)
		}
	}
}

// checkSameRequest judges the answers to one request.
func checkSameRequest(q *request, f *Finding) {
	var first *history.Attempt
	created, acted := 0, 0
	for _, a := range q.attempts {
		if a.Operation != q.operation() {
			f.violatedf("%s: the history has also %s under this id", q, a.Operation)
		}
		if !a.Succeeded() {
			if settled(a) && a.Start > q.succeeded().End {
				f.violatedf("%s, after %s", Describe(a), Describe(q.succeeded()))
			}
			continue
		}
		f.Looked++
		if a.Status == http.StatusCreated {
			created++
		}
		if !a.Replayed {
			acted++
		}
		if first == nil {
			first = a
		}
		for _, difference := range differences(first, a) {
			f.violatedf("%s differs from the first answer: %s", Describe(a), difference)
		}
	}
	if created > 1 && q.operation() != history.Register { // a registration has no 200
		f.violatedf("%s was answered 201 by %d attempts", q, created)
	}
	if acted > 1 && !unmarked(q.attempts[0]) {
		f.violatedf("%s acted in %d attempts: their answers are not marked as stored ones", q, acted)
	}
}

// differences lists the members of an answer that differ from the first one, without those that may change.
func differences(first, later *history.Attempt) []string {
	var before, after any
	_, _ = json.Unmarshal(first.Body, &before), json.Unmarshal(later.Body, &after) // checkAnswers reports unreadable ones
	return compare("", before, after, mayChange[later.Operation])
}

func compare(path string, before, after any, except map[string]string) []string {
	if except[path] != "" || reflect.DeepEqual(before, after) {
		return nil
	}
	old, isObject := before.(map[string]any)
	changed, areObjects := after.(map[string]any)
	if !isObject || !areObjects {
		return []string{fmt.Sprintf("%s is %s instead of %s", path, short(after), short(before))}
	}
	names := maps.Clone(old)
	maps.Copy(names, changed)
	var found []string
	for _, name := range sorted(names) {
		found = append(found, compare(strings.TrimPrefix(path+"."+name, "."), old[name], changed[name], except)...)
	}
	return found
}

// short writes a value of JSON in a few characters.
func short(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	if len(text) > 80 {
		return string(text[:80]) + "…"
	}
	return string(text)
}

func checkChangedRepeats(r *run, f *Finding) {
	for _, a := range r.changed {
		q := r.request(a.Agent, a.ID)
		if q == nil || q.succeeded() == nil {
			continue
		}
		first, code := q.succeeded(), conflictOf(a.Operation)
		if a.Succeeded() {
			f.violatedf("%s with another %s, and %s", Describe(a), a.Changed, Describe(first))
		}
		if first.End > a.Start || !settled(a) {
			continue // the id may not have been used by then
		}
		f.Looked++
		if a.Code != code || a.Status != http.StatusConflict {
			f.violatedf("%s with another %s than %s, instead of %s", Describe(a), a.Changed, Describe(first), code)
		}
	}
}

// conflictOf returns the code for other content under a used id.
func conflictOf(operation string) string {
	switch operation {
	case history.Register:
		return "registration_replay_conflict"
	case history.TaskRespond: // which has no operation_id
		return "state_conflict"
	}
	return "idempotency_conflict"
}
