package judge

import (
	"slices"
	"time"

	"stoa/cmd/prove/history"
)

// isOutOfTime says that the canary waited for half a second in a span, isBusy that it had to wait at all. The canary asks no server, so
// a service that is slow by itself is excused by neither.
func (r *run) isOutOfTime(from, to time.Duration) bool {
	return slices.ContainsFunc(r.Faults, func(f history.Fault) bool {
		return f.Name == history.MachineStarved && f.Start <= to && f.End >= from
	})
}

func (r *run) isBusy(from, to time.Duration) bool {
	return r.isOutOfTime(from, to) || slices.ContainsFunc(r.Delays, func(d history.Delay) bool { return d.Start <= to && d.End >= from })
}
