package metrics

import (
	"context"
	"errors"
	"sync"
	"time"

	"stoa/graph/platform/slack"
)

// probePeriod is how long a reading is good for: however often the metrics are asked for, the database is not asked more often.
const probePeriod = 5 * time.Second

// probeTimeout bounds one reading.
var probeTimeout = slack.Of(2 * time.Second)

// Reader reads figures from the database, or from what else may not answer.
type Reader func(ctx context.Context) ([]Value, error)

// probe reads figures when they are asked for and the last ones are old. It never keeps a scrape waiting for longer than its
// timeout, and while a reading hangs no other one begins: a driver may not heed its context. Figures of a reading that failed
// are left out, because old ones would look like new ones.
type probe struct {
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

// Probe adds the figures of readers.
func (m *Metrics) Probe(readers ...Reader) {
	p := &probe{readers: readers}
	m.Show(func() []Value {
		seen := p.look()
		own := []Value{
			{Name: "stoa_database_probe_failed", Value: Flag(seen.failed)}, {Name: "stoa_database_probe_seconds", Value: seen.took.Seconds()},
		}
		return append(own, seen.values...)
	})
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

// Checks adds the findings of checks, by name: what /readyz would say. One that takes longer than 2 s has failed.
func (m *Metrics) Checks(byName map[string]Check) {
	for name, check := range byName {
		p := &probe{readers: []Reader{func(ctx context.Context) ([]Value, error) { return nil, check(ctx) }}}
		m.Show(func() []Value { return []Value{{"stoa_check_passing", Flag(!p.look().failed), []string{name}}} })
	}
}
