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
	readReplicaUsable = Row{
		"stoa_read_replica_usable", Gauge, nil,
		"1 while reads without a token may go to the replica, 0 while it is down or too far behind. Missing without a replica.",
	}
	readReplicaLag = Row{
		"stoa_read_replica_lag_seconds", Gauge, nil,
		"How old an answer of the replica may be at most. Missing without a replica.",
	}
	readReplicaReads = Row{
		"stoa_read_replica_reads_total", Counter, []string{"answered_by"},
		"Reads that were sent to the replica: answered by it, or by the primary since the replica failed.",
	}
	readDomain = Domain{
		"Searches and anonymous reads", "Of one process.",
		[]Row{readsWaiting, readRefusals, readTimeouts, readReplicaUsable, readReplicaLag, readReplicaReads},
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

// Who answered a read that was sent to the replica.
const (
	answeredByReplica = "replica"
	answeredByPrimary = "primary"
)

// Reads counts searches and anonymous reads.
type Reads struct {
	registry *prometheus.Registry
	refusals map[ReadRefusal]prometheus.Counter
	timeouts prometheus.Counter
	// usable and lag have no value until there is a replica.
	usable, lag *prometheus.GaugeVec
	answered    *prometheus.CounterVec
}

func newReads(registry *prometheus.Registry) *Reads {
	r := &Reads{registry: registry, refusals: make(map[ReadRefusal]prometheus.Counter), timeouts: readTimeouts.counters(registry).WithLabelValues()}
	r.usable, r.lag, r.answered = readReplicaUsable.gauges(registry), readReplicaLag.gauges(registry), readReplicaReads.counters(registry)
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

// Replica shows the state of the replica.
func (r *Reads) Replica(usable bool, lagSeconds float64) {
	if r == nil {
		return
	}
	value := 0.0
	if usable {
		value = 1
	}
	r.usable.WithLabelValues().Set(value)
	r.lag.WithLabelValues().Set(lagSeconds)
	for _, by := range []string{answeredByReplica, answeredByPrimary} {
		r.answered.WithLabelValues(by) // it is there before the first read
	}
}

// ReplicaAnswered counts a read that was sent to the replica.
func (r *Reads) ReplicaAnswered(answered bool) {
	if r == nil {
		return
	}
	by := answeredByPrimary
	if answered {
		by = answeredByReplica
	}
	r.answered.WithLabelValues(by).Inc()
}
