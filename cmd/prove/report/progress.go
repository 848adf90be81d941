package report

import (
	"context"
	"fmt"
	"io"
	"time"

	"stoa/cmd/prove/history"
)

// Interval is the time between two lines of progress.
const Interval = 5 * time.Second

// Progress reports the progress of a run, a line every Interval.
type Progress struct {
	recorder *history.Recorder
	// fault names the fault in force, empty if no fault is in force.
	fault func() string

	// before holds the values of the last line.
	before struct {
		at                                time.Duration
		attempts, unavailable, deliveries int
	}
}

// NewProgress makes the progress of a recorder's run. fault may be called at any time while it runs.
func NewProgress(recorder *history.Recorder, fault func() string) *Progress {
	return &Progress{recorder: recorder, fault: fault}
}

// Run writes lines until the context ends.
func (p *Progress) Run(ctx context.Context, to io.Writer) {
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			fmt.Fprintln(to, p.Line())
		}
	}
}

// Line reports the changes since the line before, and the totals. It must not be called by two goroutines at once.
func (p *Progress) Line() string {
	now, before := p.recorder.Now(), p.before
	p.before.at = now
	p.recorder.Record(func(h *history.History) {
		for i := before.attempts; i < len(h.Attempts); i++ {
			if unavailable(&h.Attempts[i]) {
				p.before.unavailable++
			}
		}
		p.before.attempts, p.before.deliveries = len(h.Attempts), len(h.Deliveries)
	})
	rate := float64(p.before.attempts-before.attempts) / max(now-before.at, time.Millisecond).Seconds()
	text := fmt.Sprintf("%6s  %5.0f requests/s  %s failed  %s events",
		Clock(now), rate, Count(p.before.unavailable), Count(p.before.deliveries))
	if fault := p.fault(); fault != "" {
		text += "  fault: " + fault
	}
	return text
}
