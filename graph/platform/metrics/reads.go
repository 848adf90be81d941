package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	readsWaiting = Row{
		"stoa_reads_waiting", Gauge, nil,
		"Searches and anonymous reads that wait for one of the connections they share.",
	}
	readRefusals = Row{
		"stoa_read_refusals_total", Counter, []string{"reason"},
		"Searches and anonymous reads refused before they ran: caller_full and queue_full (too many wait, of one caller or altogether) or waited_too_long.",
	}
	readTimeouts = Row{
		"stoa_read_timeouts_total", Counter, nil,
		"Searches and anonymous reads cut off since a statement took longer than it may.",
	}
	readDomain = Domain{
		"Searches and anonymous reads", "Of one process.",
		[]Row{readsWaiting, readRefusals, readTimeouts},
	}
)

// ReadRefusal is why a search or an anonymous read was refused.
type ReadRefusal string

// The reasons.
const (
	CallerFull    ReadRefusal = "caller_full"
	QueueFull     ReadRefusal = "queue_full"
	WaitedTooLong ReadRefusal = "waited_too_long"
)

// Reads counts searches and anonymous reads.
type Reads struct {
	registry *prometheus.Registry
	refusals map[ReadRefusal]prometheus.Counter
	timeouts prometheus.Counter
}

func newReads(registry *prometheus.Registry) *Reads {
	r := &Reads{registry: registry, refusals: make(map[ReadRefusal]prometheus.Counter), timeouts: readTimeouts.counters(registry).WithLabelValues()}
	vec := readRefusals.counters(registry)
	for _, reason := range []ReadRefusal{CallerFull, QueueFull, WaitedTooLong} {
		r.refusals[reason] = vec.WithLabelValues(string(reason))
	}
	return r
}

// Waiting shows the length of the queue; it may be called once.
func (r *Reads) Waiting(length func() int) {
	if r != nil {
		r.registry.MustRegister(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: readsWaiting.Name, Help: readsWaiting.Help}, func() float64 { return float64(length()) }))
	}
}

// Refused counts a read that was refused.
func (r *Reads) Refused(reason ReadRefusal) {
	if r != nil {
		r.refusals[reason].Inc()
	}
}

// TimedOut counts a read that was cut off.
func (r *Reads) TimedOut() {
	if r != nil {
		r.timeouts.Inc()
	}
}
