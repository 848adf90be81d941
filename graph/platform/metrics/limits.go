package metrics

import "github.com/prometheus/client_golang/prometheus"

var (
	limitRefusals = Row{
		"stoa_limit_refusals_total", Counter, []string{"limit"},
		"Requests refused with 429 by a limit, by its name in the RateLimit headers; requests_per_address is the coarse one that each process counts for itself. connections_per_address and connections count connections that were closed at once.",
	}
	limitDomain = Domain{
		"Limits", "Of both listeners of one process. Sockets, streams and polls that find no place show as close code 4429.",
		[]Row{limitRefusals},
	}
)

// Names of limits that a listener keeps by itself, without the database.
const (
	// RequestsPerAddress is the coarse limit on all requests.
	RequestsPerAddress = "requests_per_address"
	// Connections is the limit on open connections, ConnectionsPerAddress that on those of one client address.
	Connections           = "connections"
	ConnectionsPerAddress = "connections_per_address"
)

// Limits counts refusals by limits.
type Limits struct{ refusals *prometheus.CounterVec }

func newLimits(registry *prometheus.Registry) *Limits {
	l := &Limits{limitRefusals.counters(registry)}
	l.Expect(RequestsPerAddress)
	return l
}

// Expect makes the series of limits appear before they refuse anything.
func (l *Limits) Expect(names ...string) {
	if l == nil {
		return
	}
	for _, name := range names {
		l.refusals.WithLabelValues(name)
	}
}

// Refused counts a request that limits refused, by their names in the table of limits.
func (l *Limits) Refused(names ...string) {
	if l == nil {
		return
	}
	for _, name := range names {
		l.refusals.WithLabelValues(name).Inc()
	}
}
