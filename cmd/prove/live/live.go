// Package live judges a run while it goes on.
//
// It reads copies of the record, which is only ever added to. A request is recorded when it ends, so what is
// judged lies as far back as a request may take; faults are recorded when service is back, so those in force are asked for. What is
// reported would be reported at the end, too.
package live

import (
	"cmp"
	"context"
	"slices"
	"time"

	"stoa/cmd/prove/history"
	"stoa/cmd/prove/judge"
)

const (
	// interval is the shortest time between two judgements, patience how many times as long as a judgement the pause after it is.
	interval = 3 * time.Second
	patience = 4
	behind   = 20 * time.Second
)

// Watch judges along.
type Watch struct {
	Recorder *history.Recorder
	// InForce returns the faults in force that are not recorded yet.
	InForce func() []history.Fault
	// Behind is how far back what is judged lies, 20 s if it is 0: longer than any request takes.
	Behind time.Duration
}

// Run judges again and again until it finds a violation or ctx ends. It returns all findings of the judgement that found one, with
// what was judged, and nothing otherwise.
func (w *Watch) Run(ctx context.Context) (found []judge.Finding, judged *history.History) {
	for pause := interval; ; {
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(pause):
		}
		begun := time.Now()
		h := w.snapshot()
		if findings := judge.Early(h, h.Length-cmp.Or(w.Behind, behind)); judge.Violations(findings) > 0 {
			return findings, h
		}
		pause = max(interval, patience*time.Since(begun))
	}
}

// Judge judges the history of a run that was stopped, as Run did.
func Judge(h *history.History) []judge.Finding { return judge.Early(h, h.Length-behind) }

// snapshot is the record so far, with the faults in force, which have no end yet. A fault that was in force before or after the copy
// may be missing in the record.
func (w *Watch) snapshot() *history.History {
	pending := w.InForce()
	var h history.History
	w.Recorder.Record(func(recorded *history.History) { h = *recorded })
	h.Length = w.Recorder.Now()
	pending = append(pending, w.InForce()...)
	h.Faults = slices.Clone(h.Faults)
	for _, fault := range pending {
		fault.Lifted, fault.End = h.Length+24*time.Hour, h.Length+24*time.Hour
		h.Faults = append(h.Faults, fault)
	}
	return &h
}
