package metrics

import (
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"stoa/docs"
)

// row is a metric of docs/metrics.md.
type row struct {
	kind   prometheus.ValueType
	labels []string
	help   string
}

var rows = regexp.MustCompile("(?m)^\\| `(stoa_\\w+)` \\| (counter|gauge|histogram) \\| (.*?) \\| (.*) \\|$")

// readTable reads the metrics of docs/metrics.md by their names.
func readTable() map[string]row {
	table := make(map[string]row)
	for _, found := range rows.FindAllStringSubmatch(docs.Metrics(), -1) {
		r := row{prometheus.GaugeValue, strings.FieldsFunc(found[3], func(c rune) bool { return strings.ContainsRune("`, ", c) }), found[4]}
		if found[2] == "counter" {
			r.kind = prometheus.CounterValue
		}
		table[found[1]] = r
	}
	return table
}

// Series counts by labels, and records durations by the first of these labels. A nil Series counts nothing.
type Series struct {
	counts *prometheus.CounterVec
	// seconds has the first timed labels of counts; nil if nothing is timed.
	seconds *prometheus.HistogramVec
	timed   int
}

// series makes the Series of a counter.
func (m *Metrics) series(counter string) *Series {
	of := m.table[counter]
	s := &Series{counts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: counter, Help: of.help}, of.labels)}
	m.registry.MustRegister(s.counts)
	return s
}

// timed makes the Series of a counter and a histogram with the upper bounds of its buckets.
func (m *Metrics) timed(counter, histogram string, buckets []float64) *Series {
	s, of := m.series(counter), m.table[histogram]
	s.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: histogram, Help: of.help, Buckets: buckets}, of.labels)
	s.timed = len(of.labels)
	m.registry.MustRegister(s.seconds)
	return s
}

// expectEach creates a series at zero for each value of the only label.
func (s *Series) expectEach(values ...string) *Series {
	for _, value := range values {
		s.Expect(value)
	}
	return s
}

// Expect creates a series at zero, before anything is counted.
func (s *Series) Expect(labels ...string) {
	if s == nil {
		return
	}
	s.counts.WithLabelValues(labels...)
	if s.seconds != nil {
		s.seconds.WithLabelValues(labels[:s.timed]...)
	}
}

func (s *Series) Count(labels ...string) {
	if s != nil {
		s.counts.WithLabelValues(labels...).Inc()
	}
}

// CountEach adds one for each value of the only label.
func (s *Series) CountEach(values []string) {
	for _, value := range values {
		s.Count(value)
	}
}

// Done adds one and records its duration.
func (s *Series) Done(took time.Duration, labels ...string) {
	if s != nil {
		s.Count(labels...)
		s.seconds.WithLabelValues(labels[:s.timed]...).Observe(took.Seconds())
	}
}

// Value is the current value of a metric.
type Value struct {
	Name   string
	Value  float64
	Labels []string
}

// Flag is 1 for true.
func Flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Show adds values that read returns at each scrape; read must not block. The zero value of Metrics shows nothing.
func (m *Metrics) Show(read func() []Value) {
	if m.registry != nil {
		m.registry.MustRegister(shown{m.table, read})
	}
}

// shown is a collector of values.
type shown struct {
	table map[string]row
	read  func() []Value
}

// Describe implements prometheus.Collector. It sends nothing: Collect describes each value from the table.
func (shown) Describe(chan<- *prometheus.Desc) {}

func (c shown) Collect(to chan<- prometheus.Metric) {
	for _, v := range c.read() {
		of, known := c.table[v.Name]
		desc := prometheus.NewDesc(v.Name, of.help, of.labels, nil)
		if !known {
			desc = prometheus.NewInvalidDesc(errors.New(v.Name + " is not in docs/metrics.md"))
		}
		metric, err := prometheus.NewConstMetric(desc, of.kind, v.Value, v.Labels...)
		if err != nil {
			metric = prometheus.NewInvalidMetric(desc, err)
		}
		to <- metric
	}
}
