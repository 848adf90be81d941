package judge

import (
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// write is a value that a request has given something, or may have given it.
type write struct {
	start, end time.Duration
	// certain says that the request was answered with success.
	certain bool
	value   string
}

// register holds the values that were written to one thing, the initial one included.
type register []write

// newRegister returns a register with a value from before the run.
func newRegister(value string) register {
	return register{{start: -2, end: -1, certain: true, value: value}}
}

// add adds what an attempt wrote, if it may have acted.
func (g register) add(a *history.Attempt, value string) register {
	if !mayHaveActed(a) {
		return g
	}
	w := write{start: a.Start, end: a.End, certain: a.Succeeded(), value: value}
	if !w.certain {
		w.end += straggling
	}
	return append(g, w)
}

// possible returns the values that a reading may show: what was written before its end, and not certainly overwritten before its
// start.
func (g register) possible(start, end time.Duration) []string {
	var values []string
	for _, w := range g {
		overwritten := slices.ContainsFunc(g, func(later write) bool { return later.certain && later.start > w.end && later.end < start })
		if w.start < end && !overwritten {
			values = append(values, w.value)
		}
	}
	return values
}

// may says that a reading may show a value.
func (g register) may(a *history.Attempt, value string) bool {
	return slices.Contains(g.possible(a.Start, a.End), value)
}
