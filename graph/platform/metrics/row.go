package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
)

// Kind is the type of a metric.
type Kind string

// The kinds.
const (
	Counter   Kind = "counter"
	Gauge     Kind = "gauge"
	Histogram Kind = "histogram"
)

// Row is one metric.
type Row struct {
	Name   string
	Kind   Kind
	Labels []string
	Help   string
}

// Domain is the metrics of one part of Stoa.
type Domain struct {
	Name string
	// About says whose figures these are.
	About string
	Rows  []Row
}

// Domains is every metric of Stoa's own, in the order of docs/metrics.md.
func Domains() []Domain {
	return []Domain{
		httpDomain, graphqlDomain, limitDomain, readDomain, socketDomain, outboxDomain, jobDomain, inspectionDomain, mailDomain,
		webhookDomain, ledgerDomain, logDomain, backupDomain, processDomain,
	}
}

func (r Row) counters(to prometheus.Registerer) *prometheus.CounterVec {
	vec := prometheus.NewCounterVec(prometheus.CounterOpts{Name: r.Name, Help: r.Help}, r.Labels)
	to.MustRegister(vec)
	return vec
}

func (r Row) gauges(to prometheus.Registerer) *prometheus.GaugeVec {
	vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: r.Name, Help: r.Help}, r.Labels)
	to.MustRegister(vec)
	return vec
}

func (r Row) histograms(to prometheus.Registerer, buckets []float64) *prometheus.HistogramVec {
	vec := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: r.Name, Help: r.Help, Buckets: buckets}, r.Labels)
	to.MustRegister(vec)
	return vec
}

// desc describes a row whose values are read when they are asked for.
func (r Row) desc() *prometheus.Desc { return prometheus.NewDesc(r.Name, r.Help, r.Labels, nil) }

// Value is the current value of a row.
type Value struct {
	Row    Row
	Value  float64
	Labels []string
}

// send hands values to Prometheus.
func send(to chan<- prometheus.Metric, values []Value) {
	for _, v := range values {
		kind := prometheus.GaugeValue
		if v.Row.Kind == Counter {
			kind = prometheus.CounterValue
		}
		to <- prometheus.MustNewConstMetric(v.Row.desc(), kind, v.Value, v.Labels...)
	}
}
