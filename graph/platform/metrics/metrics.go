// Package metrics serves Stoa's metrics to Prometheus.
//
// Every metric is a Row of one Domain, and docs/metrics.md is written from those rows. rows.go is the table of them,
// counts.go and probe.go move them. Labels are of known sets (route patterns, fault codes, kinds of jobs), never what a client sent, so the
// number of series is bounded; and series that an alert counts on are there, at zero, from the start.
//
// Counters and histograms are of one process since it began: sum over the processes. Figures that come from the database
// (Probe) are of the whole cluster and the same on every process: take their maximum.
//
// All types are safe for concurrent use. The nil value of each counts nothing, so that what is counted need not ask whether
// anybody looks.
package metrics

import (
	"database/sql"
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics are those of one process. The zero value counts nothing.
type Metrics struct {
	HTTP        *HTTP
	GraphQL     *GraphQL
	Limits      *Limits
	Reads       *Reads
	Jobs        *Jobs
	Inspections *Inspections
	Mails       *Mails
	Webhooks    *Webhooks

	registry *prometheus.Registry
}

// New makes the metrics of a process; version is the program's.
func New(version string) *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	buildInfo.gauges(registry).WithLabelValues(version, runtime.Version()).Set(1)
	mails := &Mails{mailAttempts.counters(registry)}
	expect(mails.attempts, MailSent, MailRefused, MailFailed, MailHeld, MailExpired)
	return &Metrics{
		HTTP: newHTTP(registry), GraphQL: newGraphQL(registry), Limits: newLimits(registry), Reads: newReads(registry),
		Jobs:        &Jobs{jobRuns.counters(registry), jobDuration.histograms(registry, jobTimes)},
		Inspections: newTimed(registry, inspectionVerdicts, inspectionDuration, Accepted, Refused, Undecided),
		Mails:       mails,
		Webhooks: newTimed(registry, webhookAttempts, webhookSeconds,
			WebhookAcknowledged, WebhookFailed, WebhookGivenUp, WebhookGone),
		registry: registry,
	}
}

// PrivateCluster says whether this process keeps its own database alive.
func (m *Metrics) PrivateCluster(is bool) {
	clusterPrivate.gauges(m.registry).WithLabelValues().Set(flag(is))
}

// Pool adds the figures of a pool of database connections.
func (m *Metrics) Pool(pool *sql.DB) {
	m.registry.MustRegister(collectors.NewDBStatsCollector(pool, "stoa"))
}

// Handler serves the metrics in the text format, and in OpenMetrics to who asks for it.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, EnableOpenMetrics: true})
}
