// Package metrics serves Stoa's metrics to Prometheus.
//
// docs/metrics.md is the table of all metrics: their names, types, labels and meanings. Code names a metric by its name there; a
// test of cmd/stoa compares a running server with the table. Labels have known values (route patterns, fault codes, kinds of
// jobs), never input of a client, so the number of series is bounded. Series that an alert needs exist from the start, at zero.
//
// Counters and histograms count one process since its start: sum them over the processes. Values from the database (Probe)
// describe the whole cluster and are the same in every process: take their maximum.
//
// All types are safe for concurrent use. A nil Series and the zero value of Metrics count nothing, so callers need no nil checks.
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

// The upper bounds of the buckets, in seconds.
var (
	latencies = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30}
	jobTimes  = []float64{.005, .025, .1, .5, 1, 5, 15, 60, 300, 1800}
)

// Labels that several packages use.
const (
	// Unmatched is the route of requests that match no route. NoOperation is the operation of a GraphQL request that is refused
	// before its operation is known.
	Unmatched   = "unmatched"
	NoOperation = "none"
	// OK is the code of a GraphQL request without an error.
	OK = "ok"

	// RequestsPerAddress is the coarse limit on all requests, Connections the limit on open connections, ConnectionsPerAddress
	// the limit on open connections of one client address.
	RequestsPerAddress    = "requests_per_address"
	Connections           = "connections"
	ConnectionsPerAddress = "connections_per_address"

	// Completed and the next two are the outcomes of job runs.
	Completed = "completed"
	Failed    = "failed"
	Discarded = "discarded"
	// Accepted and the next two are the verdicts of inspections; Undecided means that the inspection itself failed.
	Accepted  = "accepted"
	Refused   = "refused"
	Undecided = "failed"
	// MailSent and the next four are the outcomes of attempts to send a mail.
	MailSent    = "sent"
	MailRefused = "refused"
	MailFailed  = "failed"
	MailHeld    = "held"
	MailExpired = "expired"
	// WebhookAcknowledged and the next three are the outcomes of attempts to deliver to a webhook.
	WebhookAcknowledged = "acknowledged"
	WebhookFailed       = "failed"
	WebhookGivenUp      = "given_up"
	WebhookGone         = "gone"
	// CallerFull and the next two are the reasons to refuse a search or an anonymous read.
	CallerFull    = "caller_full"
	QueueFull     = "queue_full"
	WaitedTooLong = "waited_too_long"
	// Replica and Primary name the server that answered a read sent to the replica.
	Replica = "replica"
	Primary = "primary"
)

// Metrics holds the metrics of one process. The zero value counts nothing.
type Metrics struct {
	// HTTP counts requests of the public listener, InFlight the requests that are being answered, Faults error answers.
	HTTP, Faults *Series
	InFlight     atomic.Int64
	// GraphQL counts requests of the operator listener.
	GraphQL *Series
	// Limits counts refusals by limit.
	Limits *Series
	// Reads counts refused searches and anonymous reads. ReadTimeouts counts the ones that timed out, ReplicaReads the ones that
	// were sent to the replica.
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

// Pool adds the metrics of a pool of database connections.
func (m *Metrics) Pool(pool *sql.DB) {
	m.registry.MustRegister(collectors.NewDBStatsCollector(pool, "stoa"))
}

// Handler serves the metrics in the text format, or in OpenMetrics if the client asks for it.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, EnableOpenMetrics: true})
}
