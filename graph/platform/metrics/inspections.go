package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

var (
	inspectionVerdicts = Row{
		"stoa_inspection_verdicts_total", Counter, []string{"verdict"},
		"Inspections that this process ran: accepted, refused, or failed where this machine could not judge.",
	}
	inspectionDuration = Row{
		"stoa_inspection_duration_seconds", Histogram, nil,
		"Time the child process took to judge a file.",
	}
	// InspectionsWaiting and the rows below come from the database.
	InspectionsWaiting = Row{
		"stoa_inspections_waiting", Gauge, nil,
		"Uploads that wait for their inspection.",
	}
	// InspectionsRunning counts taken inspection slots.
	InspectionsRunning = Row{
		"stoa_inspections_running", Gauge, nil,
		"Uploads that are being inspected.",
	}
	// InspectionsOldest is the age of the oldest upload without a verdict.
	InspectionsOldest = Row{
		"stoa_inspections_oldest_seconds", Gauge, nil,
		"Age of the oldest upload without a verdict, since it was stored; 0 if no upload waits.",
	}
	// UploadsUnderWay counts the uploads that are being received, before they wait for their inspection.
	UploadsUnderWay = Row{
		"stoa_uploads_under_way", Gauge, nil,
		"Uploads that are being received.",
	}
	inspectionDomain = Domain{
		"Inspections", "Verdicts are of one process; the queue is the cluster's, read from the database.",
		[]Row{inspectionVerdicts, inspectionDuration, InspectionsWaiting, InspectionsRunning, InspectionsOldest, UploadsUnderWay},
	}
)

// Verdict is the result of an inspection.
type Verdict string

// The verdicts.
const (
	Accepted  Verdict = "accepted"
	Refused   Verdict = "refused"
	Undecided Verdict = "failed"
)

// Inspections counts verdicts on uploads.
type Inspections struct {
	verdicts map[Verdict]prometheus.Counter
	duration prometheus.Observer
}

func newInspections(registry *prometheus.Registry) *Inspections {
	i := &Inspections{
		verdicts: make(map[Verdict]prometheus.Counter),
		duration: inspectionDuration.histograms(registry, latencies).WithLabelValues(),
	}
	vec := inspectionVerdicts.counters(registry)
	for _, verdict := range []Verdict{Accepted, Refused, Undecided} {
		i.verdicts[verdict] = vec.WithLabelValues(string(verdict))
	}
	return i
}

// Done counts an inspection.
func (i *Inspections) Done(verdict Verdict, took time.Duration) {
	if i == nil {
		return
	}
	i.verdicts[verdict].Inc()
	i.duration.Observe(took.Seconds())
}
