package metrics

import (
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"stoa/graph/platform/fault"
)

var (
	httpRequests = Row{
		"stoa_http_requests_total", Counter, []string{"route", "method", "code"},
		"Requests answered, by the pattern of their route (unmatched: no route), their method and the status of the answer.",
	}
	httpDuration = Row{
		"stoa_http_request_duration_seconds", Histogram, []string{"route", "method"},
		"Time from a request's header to the end of its answer; uploads and downloads include the client's own slowness.",
	}
	httpFaults = Row{
		"stoa_http_faults_total", Counter, []string{"code"},
		"Error answers, by the code in their body.",
	}
	httpInFlight = Row{
		"stoa_http_requests_in_flight", Gauge, nil,
		"Requests being answered. An event socket counts until its handshake is over, a stream or a poll for as long as it lasts.",
	}
	httpDomain = Domain{
		"Requests", "Of the public listener of one process.",
		[]Row{httpRequests, httpDuration, httpFaults, httpInFlight},
	}
)

// latencies are the bounds in seconds: what agents wait for lies between one and a hundred milliseconds, an inspection takes seconds.
var latencies = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}

// Unmatched is the pattern of requests that no route is there for.
const Unmatched = "unmatched"

// HTTP counts the requests of the public listener.
type HTTP struct {
	requests  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	faults    map[fault.Code]prometheus.Counter
	inFlight  prometheus.Gauge

	mu       sync.Mutex
	patterns map[string]*Pattern
}

func newHTTP(registry *prometheus.Registry) *HTTP {
	h := &HTTP{
		requests: httpRequests.counters(registry), durations: httpDuration.histograms(registry, latencies),
		faults: make(map[fault.Code]prometheus.Counter), inFlight: httpInFlight.gauges(registry).WithLabelValues(),
		patterns: make(map[string]*Pattern),
	}
	vec := httpFaults.counters(registry)
	for _, code := range fault.Codes() {
		h.faults[code] = vec.WithLabelValues(string(code))
	}
	return h
}

// Pattern returns the counts of a route pattern. The server of the route keeps it.
func (h *HTTP) Pattern(name string) *Pattern {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	known := h.patterns[name]
	if known == nil {
		known = &Pattern{http: h, name: name}
		h.patterns[name] = known
	}
	return known
}

// Began counts a request as being answered, Ended as answered.
func (h *HTTP) Began() {
	if h != nil {
		h.inFlight.Inc()
	}
}

// Ended is the other half of Began.
func (h *HTTP) Ended() {
	if h != nil {
		h.inFlight.Dec()
	}
}

// Fault counts an error answer.
func (h *HTTP) Fault(code fault.Code) {
	if h == nil {
		return
	}
	if counter := h.faults[code]; counter != nil {
		counter.Inc()
	}
}

// methods are counted separately; any other method counts as the last one.
var methods = [...]string{
	http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions, "other",
}

func methodIndex(method string) int {
	for i, known := range methods {
		if method == known {
			return i
		}
	}
	return len(methods) - 1
}

// Pattern counts the requests of one route pattern.
type Pattern struct {
	http     *HTTP
	name     string
	byMethod [len(methods)]atomic.Pointer[route]
}

// route is a pattern with a method: the counters of its statuses are looked up once each.
type route struct {
	duration prometheus.Observer
	// byStatus is replaced, never changed.
	byStatus atomic.Pointer[map[int]prometheus.Counter]
}

// Expect makes the series of an answer appear before there is one.
func (p *Pattern) Expect(method string, status int) {
	if p != nil {
		p.of(method).counter(p, methods[methodIndex(method)], status)
	}
}

// Done counts an answered request.
func (p *Pattern) Done(method string, status int, took time.Duration) {
	if p == nil {
		return
	}
	r := p.of(method)
	r.duration.Observe(took.Seconds())
	if counter, ok := (*r.byStatus.Load())[status]; ok {
		counter.Inc()
		return
	}
	r.counter(p, methods[methodIndex(method)], status).Inc()
}

func (p *Pattern) of(method string) *route {
	place := &p.byMethod[methodIndex(method)]
	if known := place.Load(); known != nil {
		return known
	}
	made := &route{duration: p.http.durations.WithLabelValues(p.name, methods[methodIndex(method)])}
	made.byStatus.Store(&map[int]prometheus.Counter{})
	place.CompareAndSwap(nil, made)
	return place.Load()
}

// counter keeps the counter of a status that is new here. Two that are new at once may keep one; the other is kept the next time.
func (r *route) counter(p *Pattern, method string, status int) prometheus.Counter {
	if known, ok := (*r.byStatus.Load())[status]; ok {
		return known
	}
	counter := p.http.requests.WithLabelValues(p.name, method, strconv.Itoa(status))
	more := maps.Clone(*r.byStatus.Load())
	more[status] = counter
	r.byStatus.Store(&more)
	return counter
}

// Patterns lists the patterns known so far, sorted.
func (h *HTTP) Patterns() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.patterns))
}
