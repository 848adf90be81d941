// Package metrics serves Stoa's metrics to Prometheus.
//
// docs/metrics.md is the table of all metrics: their names, types, labels and meanings. Code names a metric by its name there; a test of
// cmd/stoa compares a running server with the table. Labels are of known sets (route patterns, fault codes, kinds of jobs), never what a
// client sent, so the number of series is bounded; and series that an alert counts on are there, at zero, from the start.
//
// Counters and histograms are of one process since it began: sum over the processes. Figures that come from the database
// (Probe) are of the whole cluster and the same on every process: take their maximum.
//
// All types are safe for concurrent use. A nil Series and the zero value of Metrics count nothing, so that what is counted need not ask
// whether anybody looks.
package metrics

import (
	"database/sql"
	"net/http"
	"runtime"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"stoa/graph/platform/fault"
)

// The upper ends of the buckets, in seconds.
var (
	latencies = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	jobTimes  = []float64{.005, .025, .1, .5, 1, 5, 15, 60, 300, 1800}
)

// Labels that several packages use.
const (
	// Unmatched is the route of requests to none, NoOperation the operation of a GraphQL request refused before it was known.
	Unmatched   = "unmatched"
	NoOperation = "none"
	// OK is the code of a GraphQL request without an error.
	OK = "ok"

	// RequestsPerAddress is the coarse limit on all requests, Connections the limit on open connections, ConnectionsPerAddress that on
	// those of one client address.
	RequestsPerAddress    = "requests_per_address"
	Connections           = "connections"
	ConnectionsPerAddress = "connections_per_address"

	// Completed begins the outcomes of runs of jobs.
	Completed = "completed"
	Failed    = "failed"
	Discarded = "discarded"
	// Accepted begins the verdicts of inspections; a machine that could not judge is Undecided.
	Accepted  = "accepted"
	Refused   = "refused"
	Undecided = "failed"
	// MailSent begins the outcomes of attempts to send a mail.
	MailSent    = "sent"
	MailRefused = "refused"
	MailFailed  = "failed"
	MailHeld    = "held"
	MailExpired = "expired"
	// WebhookAcknowledged begins the outcomes of attempts to deliver to a webhook.
	WebhookAcknowledged = "acknowledged"
	WebhookFailed       = "failed"
	WebhookGivenUp      = "given_up"
	WebhookGone         = "gone"
	// CallerFull begins the reasons for which a search or an anonymous read is refused.
	CallerFull    = "caller_full"
	QueueFull     = "queue_full"
	WaitedTooLong = "waited_too_long"
	// Replica and Primary answer a read that was sent to the replica.
	Replica = "replica"
	Primary = "primary"
)

// Metrics are those of one process. The zero value counts nothing.
type Metrics struct {
	// HTTP counts requests of the public listener, InFlight those that are being answered, Faults error answers.
	HTTP, Faults *Series
	InFlight     atomic.Int64
	// GraphQL counts requests of the operator listener.
	GraphQL *Series
	// Limits counts refusals by the limits that refused.
	Limits *Series
	// Reads counts searches and anonymous reads that were refused, ReadTimeouts those that were cut off, ReplicaReads those that were
	// sent to the replica.
	Reads, ReadTimeouts, ReplicaReads  *Series
	Jobs, Inspections, Mails, Webhooks *Series

	table    map[string]row
	registry *prometheus.Registry
}

// New makes the metrics of a process; version is the program's.
func New(version string) *Metrics {
	m := &Metrics{table: readTable(), registry: prometheus.NewRegistry()}
	m.registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	m.HTTP = m.timed("stoa_http_requests_total", "stoa_http_request_duration_seconds", latencies)
	m.Faults = m.series("stoa_http_faults_total")
	for _, code := range fault.Codes() {
		m.Faults.Expect(string(code))
	}
	m.GraphQL = m.timed("stoa_graphql_requests_total", "stoa_graphql_request_duration_seconds", latencies)
	for _, operation := range []string{NoOperation, "query", "mutation"} {
		for _, code := range []string{OK, string(fault.InternalError), string(fault.LedgerConflict), string(fault.ServiceUnavailable)} {
			m.GraphQL.Expect(operation, code)
		}
	}
	m.Limits = m.series("stoa_limit_refusals_total").expectEach(RequestsPerAddress, Connections, ConnectionsPerAddress)
	m.Reads = m.series("stoa_read_refusals_total").expectEach(CallerFull, QueueFull, WaitedTooLong)
	m.ReadTimeouts = m.series("stoa_read_timeouts_total")
	m.ReadTimeouts.Expect()
	m.ReplicaReads = m.series("stoa_read_replica_reads_total") // missing without a replica
	m.Jobs = m.timed("stoa_job_runs_total", "stoa_job_duration_seconds", jobTimes)
	m.Inspections = m.timed("stoa_inspection_verdicts_total", "stoa_inspection_duration_seconds", latencies).
		expectEach(Accepted, Refused, Undecided)
	m.Mails = m.series("stoa_mail_attempts_total").expectEach(MailSent, MailRefused, MailFailed, MailHeld, MailExpired)
	m.Webhooks = m.timed("stoa_webhook_attempts_total", "stoa_webhook_attempt_seconds", latencies).
		expectEach(WebhookAcknowledged, WebhookFailed, WebhookGivenUp, WebhookGone)
	m.Show(func() []Value {
		return []Value{
			{"stoa_build_info", 1, []string{version, runtime.Version()}},
			{Name: "stoa_http_requests_in_flight", Value: float64(m.InFlight.Load())},
		}
	})
	return m
}

// Pool adds the figures of a pool of database connections.
func (m *Metrics) Pool(pool *sql.DB) {
	m.registry.MustRegister(collectors.NewDBStatsCollector(pool, "stoa"))
}

// Handler serves the metrics in the text format, and in OpenMetrics to who asks for it.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, EnableOpenMetrics: true})
}
