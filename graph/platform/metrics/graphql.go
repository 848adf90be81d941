package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"stoa/graph/platform/fault"
)

var (
	graphqlRequests = Row{
		"stoa_graphql_requests_total", Counter, []string{"operation", "code"},
		"GraphQL requests, by the kind of their operation (none: refused before it was known) and the code of their first error (ok: none).",
	}
	graphqlDuration = Row{
		"stoa_graphql_request_duration_seconds", Histogram, []string{"operation"},
		"Time from a GraphQL request's header to its answer.",
	}
	graphqlDomain = Domain{
		"GraphQL", "Of the operator listener of one process.",
		[]Row{graphqlRequests, graphqlDuration},
	}
)

// Operation is the kind of a GraphQL operation.
type Operation string

// The kinds of operations; NoOperation is one that was refused before its kind was known.
const (
	NoOperation Operation = "none"
	Query       Operation = "query"
	Mutation    Operation = "mutation"
)

// fine is the code of a request without an error.
const fine = "ok"

// GraphQL counts the requests to the GraphQL endpoint.
type GraphQL struct {
	requests  *prometheus.CounterVec
	durations map[Operation]prometheus.Observer
}

func newGraphQL(registry *prometheus.Registry) *GraphQL {
	g := &GraphQL{requests: graphqlRequests.counters(registry), durations: make(map[Operation]prometheus.Observer)}
	vec := graphqlDuration.histograms(registry, latencies)
	for _, operation := range []Operation{NoOperation, Query, Mutation} {
		g.durations[operation] = vec.WithLabelValues(string(operation))
		for _, code := range []fault.Code{fine, fault.InternalError, fault.LedgerConflict, fault.ServiceUnavailable} {
			g.requests.WithLabelValues(string(operation), string(code))
		}
	}
	return g
}

// Done counts an answered request; code is empty if there was no error.
func (g *GraphQL) Done(operation Operation, code fault.Code, took time.Duration) {
	if g == nil {
		return
	}
	if code == "" {
		code = fine
	}
	g.requests.WithLabelValues(string(operation), string(code)).Inc()
	g.durations[operation].Observe(took.Seconds())
}
