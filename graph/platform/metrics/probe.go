package metrics

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"stoa/graph/platform/slack"
)

const (
	// probePeriod is how long a reading is good for: however often the metrics are asked for, the database is not asked more often.
	probePeriod = 5 * time.Second
)

// probeTimeout bounds one reading.
var probeTimeout = slack.Of(2 * time.Second)

// Reader reads figures from the database, or from what else may not answer.
type Reader func(ctx context.Context) ([]Value, error)

// probe reads figures when they are asked for and the last ones are old. It never keeps a scrape waiting for longer than its
// timeout, and while a reading hangs no other one begins: a driver may not heed its context. Figures of a reading that failed
// are left out, because old ones would look like new ones.
type probe struct {
	rows    []Row
	readers []Reader

	// turn is held while a goroutine reads or looks.
	turn   sync.Mutex
	latest reading
	// running is closed when the current reading is over; nil while no reading runs.
	running chan struct{}
}

// reading is the result of a reading.
type reading struct {
	began  time.Time
	took   time.Duration
	values []Value
	failed bool
}

// Probe adds the figures of readers, which together show the given domains' rows that are read from the database.
func (m *Metrics) Probe(readers ...Reader) {
	m.registry.MustRegister(newProbe(readers))
}

func newProbe(readers []Reader) *probe {
	rows := []Row{
		probeFailed, probeSeconds, OutboxDepth, OutboxOldest, OutboxConnectedOldest, JobsWaiting, JobsLag, InspectionsWaiting,
		InspectionsRunning, InspectionsOldest, UploadsUnderWay, MailsWaiting, MailsOldest,
		WebhooksWaiting, WebhooksLate, WebhooksFailing, LedgerDiscrepancies, LedgerReconciled,
		LogBehind, LogForked, LogEntries, LogWaiting, BackupMade, BackupDamagedFiles,
	}
	return &probe{rows: rows, readers: readers}
}

// Describe implements prometheus.Collector.
func (p *probe) Describe(to chan<- *prometheus.Desc) { describe(to, p.rows) }

// Collect implements prometheus.Collector.
func (p *probe) Collect(to chan<- prometheus.Metric) {
	seen := p.look()
	send(to, append(seen.values, Value{Row: probeFailed, Value: flag(seen.failed)}, Value{Row: probeSeconds, Value: seen.took.Seconds()}))
}

// look returns a reading that is fresh enough, or one that failed.
func (p *probe) look() reading {
	p.turn.Lock()
	if time.Since(p.latest.began) < probePeriod {
		defer p.turn.Unlock()
		return p.latest
	}
	if p.running == nil {
		p.running = make(chan struct{})
		go p.read(p.running)
	}
	over := p.running
	p.turn.Unlock()
	select {
	case <-over:
	case <-time.After(probeTimeout):
		return reading{failed: true, took: probeTimeout}
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.latest
}

func (p *probe) read(over chan struct{}) {
	ctx, cancel := context.WithTimeout(context.Background(), probeTimeout)
	defer cancel()
	found := reading{began: time.Now()}
	var failed error
	for _, read := range p.readers {
		values, err := read(ctx)
		failed = errors.Join(failed, err)
		found.values = append(found.values, values...)
	}
	found.took, found.failed = time.Since(found.began), failed != nil
	if found.failed {
		found.values = nil
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	p.latest, p.running = found, nil
	close(over)
}

// Check returns an error that explains what is wrong, or nil.
type Check func(context.Context) error

// checks shows what /readyz would say.
type checks map[string]*probe

// Checks adds the findings of checks, by name. One that takes longer than 2 s has failed.
func (m *Metrics) Checks(byName map[string]Check) {
	all := make(checks, len(byName))
	for name, check := range byName {
		all[name] = newProbe([]Reader{func(ctx context.Context) ([]Value, error) { return nil, check(ctx) }})
	}
	m.registry.MustRegister(all)
}

// Describe implements prometheus.Collector.
func (c checks) Describe(to chan<- *prometheus.Desc) { describe(to, []Row{checkPassing}) }

// Collect implements prometheus.Collector.
func (c checks) Collect(to chan<- prometheus.Metric) {
	var all sync.WaitGroup
	for name, check := range c {
		all.Go(func() { send(to, []Value{{checkPassing, flag(!check.look().failed), []string{name}}}) })
	}
	all.Wait()
}
