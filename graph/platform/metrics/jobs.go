package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	jobRuns = Row{
		"stoa_job_runs_total", Counter, []string{"kind", "outcome"},
		"Runs of jobs: completed, failed (will be tried again) or discarded (no attempt is left; a periodic job has one).",
	}
	jobDuration = Row{
		"stoa_job_duration_seconds", Histogram, []string{"kind"},
		"Time a run of a job took.",
	}
	// JobsWaiting counts jobs that are not finished, from the database.
	JobsWaiting = Row{
		"stoa_jobs", Gauge, []string{"queue", "state"},
		"Jobs of the cluster by queue and state (available, running, retryable, scheduled, discarded within River's retention), counted up to 10,000 each.",
	}
	// JobsLag is how long the oldest job that could run waits, from the database.
	JobsLag = Row{
		"stoa_jobs_oldest_available_seconds", Gauge, []string{"queue"},
		"For how long the oldest job that is due has waited for a worker.",
	}
	jobDomain = Domain{
		"Jobs", "Runs are of one process; the queues are the cluster's, read from the database.",
		[]Row{jobRuns, jobDuration, JobsWaiting, JobsLag},
	}
)

// jobTimes are the bounds in seconds: deliver takes milliseconds, a reconciliation minutes.
var jobTimes = []float64{.005, .025, .1, .5, 1, 5, 15, 60, 300, 1800}

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

func newJobs(registry *prometheus.Registry) *Jobs {
	return &Jobs{runs: jobRuns.counters(registry), durations: jobDuration.histograms(registry, jobTimes)}
}

// Expect makes the series of a kind appear before it runs.
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
	if j == nil {
		return
	}
	j.runs.WithLabelValues(kind, string(outcome)).Inc()
	j.durations.WithLabelValues(kind).Observe(took.Seconds())
}
