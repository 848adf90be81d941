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

// Every metric of Stoa's own. The exported rows are read when they are asked for.
var (
	httpRequests = Row{"stoa_http_requests_total", Counter, []string{"route", "method", "code"},
		"Requests answered, by the pattern of their route (unmatched: no route), their method and the status of the answer."}
	httpDuration = Row{"stoa_http_request_duration_seconds", Histogram, []string{"route", "method"},
		"Time from a request's header to the end of its answer; uploads and downloads include the client's own slowness."}
	httpFaults   = Row{"stoa_http_faults_total", Counter, []string{"code"}, "Error answers, by the code in their body."}
	httpInFlight = Row{"stoa_http_requests_in_flight", Gauge, nil,
		"Requests being answered. An event socket counts until its handshake is over, a stream or a poll for as long as it lasts."}

	graphqlRequests = Row{"stoa_graphql_requests_total", Counter, []string{"operation", "code"},
		"GraphQL requests, by the kind of their operation (none: refused before it was known) and the code of their first error (ok: none)."}
	graphqlDuration = Row{"stoa_graphql_request_duration_seconds", Histogram, []string{"operation"},
		"Time from a GraphQL request's header to its answer."}

	limitRefusals = Row{"stoa_limit_refusals_total", Counter, []string{"limit"},
		"Requests refused with 429 by a limit, by its name in the RateLimit headers; requests_per_address is the coarse one that each process counts for itself. connections_per_address and connections count connections that were closed at once."}

	readsWaiting = Row{"stoa_reads_waiting", Gauge, nil,
		"Searches and anonymous reads that wait for one of the connections they share."}
	readRefusals = Row{"stoa_read_refusals_total", Counter, []string{"reason"},
		"Searches and anonymous reads refused before they ran: caller_full and queue_full (too many wait, of one caller or altogether) or waited_too_long."}
	readTimeouts = Row{"stoa_read_timeouts_total", Counter, nil,
		"Searches and anonymous reads cut off since a statement took longer than it may."}
	readReplicaUsable = Row{"stoa_read_replica_usable", Gauge, nil,
		"1 while reads without a token may go to the replica, 0 while it is down or too far behind. Missing without a replica."}
	readReplicaLag = Row{"stoa_read_replica_lag_seconds", Gauge, nil,
		"How old an answer of the replica may be at most. Missing without a replica."}
	readReplicaReads = Row{"stoa_read_replica_reads_total", Counter, []string{"answered_by"},
		"Reads that were sent to the replica: answered by it, or by the primary since the replica failed."}

	socketsOpen  = Row{"stoa_sockets_open", Gauge, nil, "Event sockets, streams and waiting polls open on this process."}
	socketsLimit = Row{"stoa_sockets_limit", Gauge, nil,
		"How many event sockets, streams and waiting polls all processes together may hold; 0 is no limit."}
	socketsOpened = Row{"stoa_sockets_opened_total", Counter, nil, "Event sockets, streams and waiting polls that were let in."}
	socketsClosed = Row{"stoa_sockets_closed_total", Counter, []string{"code"},
		"Event sockets, streams and waiting polls that ended or were turned away, by close code, that of a socket; 0 stands for those that broke off, 1000 also for polls with their answer."}
	socketsDelivered = Row{"stoa_events_delivered_total", Counter, nil,
		"Events sent over event sockets, over streams and to polls that waited; one that is sent again counts again."}
	socketsAcknowledged = Row{"stoa_events_acknowledged_total", Counter, nil,
		"Events acknowledged."}
	socketsHeard     = Row{"stoa_wakeups_heard_total", Counter, nil, "Wake-ups that came from other processes."}
	socketsProcesses = Row{"stoa_processes", Gauge, nil,
		"Processes that listen for wake-ups, this one included, as this one sees it."}
	socketsLinked = Row{"stoa_sockets_linked", Gauge, nil,
		"1 while this process holds the connection on which it gets wake-ups; without it no socket, stream or waiting poll is accepted."}

	OutboxDepth  = Row{"stoa_outbox_events", Gauge, nil, "Unacknowledged events, counted up to 100,000."}
	OutboxOldest = Row{"stoa_outbox_oldest_seconds", Gauge, nil,
		"Age of the oldest unacknowledged event, its recipient connected or not; 0 if no event waits. An agent that never comes back makes it 90 days."}
	OutboxConnectedOldest = Row{"stoa_outbox_connected_oldest_seconds", Gauge, nil,
		"Age of the oldest unacknowledged event whose recipient holds an event socket; 0 if no event waits."}
	LedgerDiscrepancies = Row{"stoa_ledger_discrepancies", Gauge, []string{"check"},
		"Places where the last checks found the books wrong, by invariant, at most 100 each. Anything but 0 is an emergency."}
	LedgerReconciled = Row{"stoa_ledger_reconciled_timestamp_seconds", Gauge, []string{"scope"},
		"When the last check ended, in Unix time, of new entries (hourly) and of the whole ledger (daily); missing before the first check."}
	BackupMade = Row{"stoa_backup_timestamp_seconds", Gauge, nil,
		"When the newest complete backup in the data folder of this process was begun, in Unix time; 0 without a backup."}
	BackupDamagedFiles = Row{"stoa_backup_damaged_files", Gauge, nil,
		"Damaged files of the backups that the newest one found and copied from the file store again."}

	jobRuns = Row{"stoa_job_runs_total", Counter, []string{"kind", "outcome"},
		"Runs of jobs: completed, failed (will be tried again) or discarded (no attempt is left; a periodic job has one)."}
	jobDuration = Row{"stoa_job_duration_seconds", Histogram, []string{"kind"}, "Time a run of a job took."}
	JobsWaiting = Row{"stoa_jobs", Gauge, []string{"queue", "state"},
		"Jobs of the cluster by queue and state (available, running, retryable, scheduled, discarded within River's retention), counted up to 10,000 each."}
	JobsLag = Row{"stoa_jobs_oldest_available_seconds", Gauge, []string{"queue"},
		"For how long the oldest job that is due has waited for a worker."}

	inspectionVerdicts = Row{"stoa_inspection_verdicts_total", Counter, []string{"verdict"},
		"Inspections that this process ran: accepted, refused, or failed where this machine could not judge."}
	inspectionDuration = Row{"stoa_inspection_duration_seconds", Histogram, nil, "Time the child process took to judge a file."}
	InspectionsWaiting = Row{"stoa_inspections_waiting", Gauge, nil, "Uploads that wait for their inspection."}
	InspectionsRunning = Row{"stoa_inspections_running", Gauge, nil, "Uploads that are being inspected."}
	InspectionsOldest  = Row{"stoa_inspections_oldest_seconds", Gauge, nil,
		"Age of the oldest upload without a verdict, since it was stored; 0 if no upload waits."}
	UploadsUnderWay = Row{"stoa_uploads_under_way", Gauge, nil, "Uploads that are being received."}

	mailAttempts = Row{"stoa_mail_attempts_total", Counter, []string{"outcome"},
		"Attempts to send a mail: sent (the mail server accepted it), refused (for good), failed (it is tried again), held (it waits, because the mails of an hour are used up) or expired (given up, because it could not be sent in time)."}
	MailsWaiting = Row{"stoa_mails_waiting", Gauge, nil, "Mails that are not sent yet, counted up to 100,000."}
	MailsOldest  = Row{"stoa_mails_oldest_seconds", Gauge, nil,
		"Age of the oldest mail that is not sent yet; 0 if no mail waits."}

	webhookAttempts = Row{"stoa_webhook_attempts_total", Counter, []string{"outcome"},
		"Attempts to deliver to a webhook: acknowledged, failed (it is tried again, unless it was a test), given_up (the last one failed) or gone (the endpoint answered 410)."}
	webhookSeconds  = Row{"stoa_webhook_attempt_seconds", Histogram, nil, "How long the endpoint of a webhook took."}
	WebhooksWaiting = Row{"stoa_webhook_deliveries_waiting", Gauge, nil,
		"Deliveries to webhooks that are due or will be, counted up to 100,000."}
	WebhooksLate = Row{"stoa_webhook_deliveries_late_seconds", Gauge, nil,
		"For how long the delivery to a webhook is due that waits longest; 0 where none is."}
	WebhooksFailing = Row{"stoa_webhooks_failing", Gauge, nil, "Webhooks whose endpoint failed until the last attempt."}

	LogBehind = Row{"stoa_log_behind", Gauge, nil,
		"1 while this process signs no head of the key log, because the database's does not continue one that was signed; else 0."}
	LogForked = Row{"stoa_log_forked", Gauge, nil,
		"1 while the key log in the database holds other entries than one that was signed; else 0. Then stoa_log_behind is 1, too."}
	LogEntries = Row{"stoa_log_entries", Gauge, nil, "Entries of the key log in its present epoch."}
	LogWaiting = Row{"stoa_log_waiting", Gauge, nil, "Entries that wait to be appended to the key log, counted up to 100,000."}

	buildInfo    = Row{"stoa_build_info", Gauge, []string{"version", "goversion"}, "1; the labels name the running version."}
	checkPassing = Row{"stoa_check_passing", Gauge, []string{"check"}, "1 where a check of /readyz passes, 0 where it fails."}
	probeFailed  = Row{"stoa_database_probe_failed", Gauge, nil,
		"1 where the figures that are read from the database could not be read in time; they are left out then."}
	probeSeconds   = Row{"stoa_database_probe_seconds", Gauge, nil, "What the last reading of those figures took."}
	clusterPrivate = Row{"stoa_private_cluster", Gauge, nil,
		"1 where this process keeps the private database alive, 0 if another program runs the database."}
)

// Domains is every metric of Stoa's own, in the order of docs/metrics.md.
func Domains() []Domain {
	return []Domain{
		{"Requests", "Of the public listener of one process.", []Row{httpRequests, httpDuration, httpFaults, httpInFlight}},
		{"GraphQL", "Of the operator listener of one process.", []Row{graphqlRequests, graphqlDuration}},
		{"Limits", "Of both listeners of one process. Sockets, streams and polls that find no place show as close code 4429.", []Row{
			limitRefusals,
		}},
		{"Searches and anonymous reads", "Of one process.", []Row{
			readsWaiting, readRefusals, readTimeouts, readReplicaUsable, readReplicaLag, readReplicaReads,
		}},
		{"Event sockets", "Of one process.", []Row{
			socketsOpen, socketsLimit, socketsOpened, socketsClosed, socketsDelivered, socketsAcknowledged, socketsHeard,
			socketsProcesses, socketsLinked,
		}},
		{"Outbox", "Of the cluster, read from the database.", []Row{OutboxDepth, OutboxOldest, OutboxConnectedOldest}},
		{"Jobs", "Runs are of one process; the queues are the cluster's, read from the database.", []Row{
			jobRuns, jobDuration, JobsWaiting, JobsLag,
		}},
		{"Inspections", "Verdicts are of one process; the queue is the cluster's, read from the database.", []Row{
			inspectionVerdicts, inspectionDuration, InspectionsWaiting, InspectionsRunning, InspectionsOldest, UploadsUnderWay,
		}},
		{"Mail", "Attempts are of one process; the queue is the cluster's, read from the database.", []Row{
			mailAttempts, MailsWaiting, MailsOldest,
		}},
		{"Webhooks", "Attempts are of one process; what waits is the cluster's, read from the database.", []Row{
			webhookAttempts, webhookSeconds, WebhooksWaiting, WebhooksLate, WebhooksFailing,
		}},
		{"Ledger", "Of the cluster, read from the database: what the job reconcile left behind, whichever process ran it.", []Row{
			LedgerDiscrepancies, LedgerReconciled,
		}},
		{"Key log", "Of the cluster, read from the database; what was signed is known from the data folder and memory of one process.", []Row{
			LogBehind, LogForked, LogEntries, LogWaiting,
		}},
		{"Backups", "Of the data folder of one process.", []Row{BackupMade, BackupDamagedFiles}},
		{"Process", "Of one process. Beside these there are `go_*`, `process_*`, `promhttp_*` and, for the pool of database connections, `go_sql_*`.", []Row{
			buildInfo, checkPassing, probeFailed, probeSeconds, clusterPrivate,
		}},
	}
}

// The following make a row and register it.

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

func describe(to chan<- *prometheus.Desc, rows []Row) {
	for _, row := range rows {
		to <- row.desc()
	}
}

// flag is 1 for true.
func flag(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
