package metrics

import (
	"context"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// Check tells why something is not as it should be.
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

// Describe is Prometheus's to call.
func (c checks) Describe(to chan<- *prometheus.Desc) { describe(to, []Row{checkPassing}) }

// Collect is Prometheus's to call.
func (c checks) Collect(to chan<- prometheus.Metric) {
	var all sync.WaitGroup
	for name, check := range c {
		all.Go(func() { send(to, []Value{{checkPassing, flag(!check.look().failed), []string{name}}}) })
	}
	all.Wait()
}
