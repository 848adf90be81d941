package metrics

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"stoa/graph/platform/fault"
)

// The upper ends of the buckets, in seconds.
var (
	latencies = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	jobTimes  = []float64{.005, .025, .1, .5, 1, 5, 15, 60, 300, 1800}
)

// Unmatched is the pattern of requests to no route.
const Unmatched = "unmatched"

// HTTP counts requests of the public listener.
type HTTP struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	faults    *prometheus.CounterVec
	inFlight  prometheus.Gauge

	mu       sync.Mutex
	patterns map[string]*Pattern
}

func newHTTP(registry *prometheus.Registry) *HTTP {
	h := &HTTP{
		requests: httpRequests.counters(registry), durations: httpDuration.histograms(registry, latencies),
		faults: httpFaults.counters(registry), inFlight: httpInFlight.gauges(registry).WithLabelValues(),
		patterns: make(map[string]*Pattern),
	}
	for _, code := range fault.Codes() {
		h.faults.WithLabelValues(string(code))
	}
	return h
}

// Pattern returns the counts of a route, or of Unmatched.
func (h *HTTP) Pattern(name string) *Pattern {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.patterns[name]
	if known == nil {
		route := prometheus.Labels{"route": name}
		known = &Pattern{h.requests.MustCurryWith(route), h.durations.MustCurryWith(route)}
		h.patterns[name] = known
	}
	return known
}

// Began counts a request that is being answered.
func (h *HTTP) Began() {
	if h != nil {
		h.inFlight.Inc()
	}
}

// Ended takes it back.
func (h *HTTP) Ended() {
	if h != nil {
		h.inFlight.Dec()
	}
}

// Fault counts an error answer by its code; one that no answer has is not counted.
func (h *HTTP) Fault(code fault.Code) {
	if h != nil && slices.Contains(fault.Codes(), code) {
		h.faults.WithLabelValues(string(code)).Inc()
	}
}

// Pattern counts the requests to one route.
type Pattern struct {
	requests  *prometheus.CounterVec
	durations prometheus.ObserverVec
}

var methods = []string{
	http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions,
}

// methodOf returns the method if it is one that routes have: others are the client's words.
func methodOf(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return "other"
}

// Expect makes a series be there before the first request.
func (p *Pattern) Expect(method string, status int) {
	if p != nil {
		p.requests.WithLabelValues(methodOf(method), strconv.Itoa(status))
		p.durations.WithLabelValues(methodOf(method))
	}
}

// Done counts a request that was answered.
func (p *Pattern) Done(method string, status int, took time.Duration) {
	if p == nil {
		return
	}
	method = methodOf(method)
	p.durations.WithLabelValues(method).Observe(took.Seconds())
	p.requests.WithLabelValues(method, strconv.Itoa(status)).Inc()
}

// Operation is the kind of a GraphQL operation.
type Operation string

// The kinds; NoOperation is that of a request refused before it was known.
const (
	NoOperation Operation = "none"
	Query       Operation = "query"
	Mutation    Operation = "mutation"
)

// fine is the code of a request without an error.
const fine = "ok"

// GraphQL counts requests of the operator listener.
type GraphQL struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
}

func newGraphQL(registry *prometheus.Registry) *GraphQL {
	g := &GraphQL{graphqlRequests.counters(registry), graphqlDuration.histograms(registry, latencies)}
	for _, operation := range []Operation{NoOperation, Query, Mutation} {
		g.durations.WithLabelValues(string(operation))
		for _, code := range []fault.Code{fine, fault.InternalError, fault.LedgerConflict, fault.ServiceUnavailable} {
			g.requests.WithLabelValues(string(operation), string(code))
		}
	}
	return g
}

// Done counts a request by the code of its first error; "" is none.
func (g *GraphQL) Done(operation Operation, code fault.Code, took time.Duration) {
	if g == nil {
		return
	}
	g.requests.WithLabelValues(string(operation), cmp.Or(string(code), fine)).Inc()
	g.durations.WithLabelValues(string(operation)).Observe(took.Seconds())
}

// The limits that are no quota of an agent's.
const (
	// RequestsPerAddress is the coarse limit on all requests.
	RequestsPerAddress = "requests_per_address"
	// Connections is the limit on open connections, ConnectionsPerAddress that on those of one client address.
	Connections           = "connections"
	ConnectionsPerAddress = "connections_per_address"
)

// Limits counts refusals by limit.
type Limits struct{ refusals *prometheus.CounterVec }

func newLimits(registry *prometheus.Registry) *Limits {
	l := &Limits{limitRefusals.counters(registry)}
	l.Expect(RequestsPerAddress)
	return l
}

// Expect makes the series of limits be there before the first refusal.
func (l *Limits) Expect(names ...string) {
	if l != nil {
		expect(l.refusals, names...)
	}
}

// Refused counts a refusal by each of the limits.
func (l *Limits) Refused(names ...string) {
	if l == nil {
		return
	}
	for _, name := range names {
		l.refusals.WithLabelValues(name).Inc()
	}
}

// expect makes series with one label be there at zero.
func expect[Label ~string](counts *prometheus.CounterVec, labels ...Label) {
	for _, label := range labels {
		counts.WithLabelValues(string(label))
	}
}

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
	refusals *prometheus.CounterVec
	timeouts prometheus.Counter
	// usable, lag and answered have no value until there is a replica.
	usable, lag *prometheus.GaugeVec
	answered    *prometheus.CounterVec
}

func newReads(registry *prometheus.Registry) *Reads {
	r := &Reads{
		registry: registry, refusals: readRefusals.counters(registry), timeouts: readTimeouts.counters(registry).WithLabelValues(),
		usable: readReplicaUsable.gauges(registry), lag: readReplicaLag.gauges(registry), answered: readReplicaReads.counters(registry),
	}
	expect(r.refusals, CallerFull, QueueFull, WaitedTooLong)
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
		r.refusals.WithLabelValues(string(reason)).Inc()
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
	if r != nil {
		r.usable.WithLabelValues().Set(flag(usable))
		r.lag.WithLabelValues().Set(lagSeconds)
		expect(r.answered, "replica", "primary")
	}
}

// ReplicaAnswered counts a read that was sent to the replica.
func (r *Reads) ReplicaAnswered(answered bool) {
	if r != nil {
		r.answered.WithLabelValues(map[bool]string{true: "replica", false: "primary"}[answered]).Inc()
	}
}
