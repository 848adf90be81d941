package metrics

import (
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Outcome is how a run of a job ended.
type Outcome string

// The outcomes.
const (
	Completed Outcome = "completed"
	Failed    Outcome = "failed"
	Discarded Outcome = "discarded"
)

// Jobs counts runs of jobs.
type Jobs struct {
	runs      *prometheus.CounterVec
	durations *prometheus.HistogramVec
}

// Expect makes the series of a kind be there before its first run.
func (j *Jobs) Expect(kind string) {
	if j == nil {
		return
	}
	for _, outcome := range []Outcome{Completed, Failed, Discarded} {
		j.runs.WithLabelValues(kind, string(outcome))
	}
	j.durations.WithLabelValues(kind)
}

// Done counts a run.
func (j *Jobs) Done(kind string, outcome Outcome, took time.Duration) {
	if j != nil {
		j.runs.WithLabelValues(kind, string(outcome)).Inc()
		j.durations.WithLabelValues(kind).Observe(took.Seconds())
	}
}

// Timed counts what has one of some outcomes after a time.
type Timed[Outcome ~string] struct {
	outcomes *prometheus.CounterVec
	seconds  prometheus.Observer
}

func newTimed[Outcome ~string](registry *prometheus.Registry, counter, histogram Row, outcomes ...Outcome) *Timed[Outcome] {
	t := &Timed[Outcome]{counter.counters(registry), histogram.histograms(registry, latencies).WithLabelValues()}
	expect(t.outcomes, outcomes...)
	return t
}

// Done counts an outcome.
func (t *Timed[Outcome]) Done(outcome Outcome, took time.Duration) {
	if t != nil {
		t.outcomes.WithLabelValues(string(outcome)).Inc()
		t.seconds.Observe(took.Seconds())
	}
}

// Verdict is how an inspection ended.
type Verdict string

// The verdicts; Undecided is that of a machine that could not judge.
const (
	Accepted  Verdict = "accepted"
	Refused   Verdict = "refused"
	Undecided Verdict = "failed"
)

// WebhookOutcome is how an attempt to deliver to a webhook ended.
type WebhookOutcome string

// The outcomes.
const (
	WebhookAcknowledged WebhookOutcome = "acknowledged"
	WebhookFailed       WebhookOutcome = "failed"
	WebhookGivenUp      WebhookOutcome = "given_up"
	WebhookGone         WebhookOutcome = "gone"
)

type (
	// Inspections are counted by their verdict.
	Inspections = Timed[Verdict]
	// Webhooks are counted by the outcome of an attempt.
	Webhooks = Timed[WebhookOutcome]
)

// MailOutcome is how an attempt to send a mail ended.
type MailOutcome string

// The outcomes.
const (
	MailSent    MailOutcome = "sent"
	MailRefused MailOutcome = "refused"
	MailFailed  MailOutcome = "failed"
	MailHeld    MailOutcome = "held"
	MailExpired MailOutcome = "expired"
)

// Mails counts attempts to send mails.
type Mails struct{ attempts *prometheus.CounterVec }

// Done counts an attempt.
func (m *Mails) Done(outcome MailOutcome) {
	if m != nil {
		m.attempts.WithLabelValues(string(outcome)).Inc()
	}
}

// Sockets are the figures of the event sockets of one process since it began.
type Sockets struct {
	Open, Limit, Processes                 int
	Opened, Delivered, Acknowledged, Heard int64
	// Closed counts by close code.
	Closed map[int]int64
	Linked bool
}

// Sockets adds the event sockets; read must not block.
func (m *Metrics) Sockets(read func() Sockets) { m.registry.MustRegister(socketCollector{read}) }

// socketCollector reads the figures when they are asked for.
type socketCollector struct{ read func() Sockets }

// Describe implements prometheus.Collector.
func (c socketCollector) Describe(to chan<- *prometheus.Desc) {
	describe(to, []Row{
		socketsOpen, socketsLimit, socketsOpened, socketsClosed, socketsDelivered, socketsAcknowledged, socketsHeard,
		socketsProcesses, socketsLinked,
	})
}

// Collect implements prometheus.Collector.
func (c socketCollector) Collect(to chan<- prometheus.Metric) {
	s := c.read()
	send(to, []Value{
		{Row: socketsOpen, Value: float64(s.Open)},
		{Row: socketsLimit, Value: float64(s.Limit)},
		{Row: socketsOpened, Value: float64(s.Opened)},
		{Row: socketsDelivered, Value: float64(s.Delivered)},
		{Row: socketsAcknowledged, Value: float64(s.Acknowledged)},
		{Row: socketsHeard, Value: float64(s.Heard)},
		{Row: socketsProcesses, Value: float64(s.Processes)},
		{Row: socketsLinked, Value: flag(s.Linked)},
	})
	for code, n := range s.Closed {
		send(to, []Value{{socketsClosed, float64(n), []string{strconv.Itoa(code)}}})
	}
}
