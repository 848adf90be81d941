package judge

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"

	"stoa/cmd/prove/history"
)

// linearizeTimeout bounds the search for one order or wallet.
const linearizeTimeout = 20 * time.Second

// call is a request to one object, for the search by porcupine: it took effect at one moment from start to end.
type call[S any] struct {
	start, end time.Duration
	// pending: it may take effect at any time after start, or never, and its answer is unknown.
	pending bool
	// reads: it changes nothing, so it can be left out if it has no answer.
	reads bool
	// text describes it in a violation.
	text string
	// step is its sequential specification: it returns whether the call fits a state, and the next state. A pending call fits
	// every state that only its answer could exclude.
	step func(state S, pending bool) (bool, S)
}

// callsOf returns the calls of some requests; of converts an attempt. All successful attempts of a request are one call: it took
// effect once, between the first attempt and the first answer, and the others changed nothing. Refusals are separate calls,
// because each is an answer about its moment. If no attempt succeeded, the attempts of unknown effect are one pending call.
func callsOf[S any](requests []*request, of func(a *history.Attempt) call[S]) (calls []call[S]) {
	for _, q := range requests {
		var effective *call[S]
		for _, a := range q.attempts {
			c := of(a)
			c.start, c.end = a.Start, a.End
			switch {
			case settled(a) && !a.Succeeded():
				c.reads = true
				calls = append(calls, c)
			case unknown(a) && effective == nil:
				c.pending, effective = true, &c
			case a == q.succeeded():
				c.start, effective = q.begun(), &c
			}
		}
		if effective != nil {
			calls = append(calls, *effective)
		}
	}
	return calls
}

// alone makes a request of one attempt.
func alone(a *history.Attempt) *request { return &request{a.Agent, a.ID, []*history.Attempt{a}} }

// linearize searches a sequence of calls that fits the specification, each call within its time. If an object has none, it
// reports the object with the first answer that the calls so far cannot explain.
func linearize[S any](f *Finding, object string, initial S, equal func(a, b S) bool, calls []call[S]) {
	model := porcupine.Model{
		Init:  func() any { return initial },
		Equal: func(a, b any) bool { return equal(a.(S), b.(S)) }, //nolint:forcetypeassert // the model's only states
		Step: func(state, input, output any) (bool, any) {
			return input.(*call[S]).step(state.(S), output.(bool)) //nolint:forcetypeassert // as until builds them
		},
	}
	for i := range calls {
		if calls[i].pending && !calls[i].reads {
			f.Excused++
		}
	}
	// until returns the calls known at a moment: those that had not ended are pending.
	until := func(t time.Duration) porcupine.CheckResult {
		operations := make([]porcupine.Operation, 0, len(calls))
		for i := range calls {
			c := &calls[i]
			pending := c.pending || c.end > t
			if c.start > t || pending && c.reads {
				continue
			}
			operation := porcupine.Operation{Input: c, Output: pending, Call: int64(c.start), Return: int64(c.end)}
			if pending {
				operation.Return = math.MaxInt64
			}
			operations = append(operations, operation)
		}
		return porcupine.CheckOperationsTimeout(model, operations, linearizeTimeout)
	}
	switch until(math.MaxInt64) {
	case porcupine.Ok:
		return
	case porcupine.Unknown:
		f.violatedf("%s: undecided: no sequence was found within %s", object, linearizeTimeout)
		return
	}
	ended := slices.DeleteFunc(slices.Clone(calls), func(c call[S]) bool { return c.pending })
	slices.SortFunc(ended, func(a, b call[S]) int { return cmp.Compare(a.end, b.end) })
	first := sort.Search(len(ended)-1, func(i int) bool { return until(ended[i].end) != porcupine.Ok })
	f.violatedf("%s: no sequence of its changes explains %s", object, ended[first].text)
}
