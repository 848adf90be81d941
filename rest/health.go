package rest

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
)

// Check is one reason why a process may not be ready.
type Check func(context.Context) error

type health struct {
	Status  string `json:"status"`
	Version string `json:"version"`
}

type readiness struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks"`
	// Confinement is on the operator listener only; §4.9 has no such member.
	Confinement any `json:"confinement,omitempty"`
	// Replica is on the operator listener only, too.
	Replica any `json:"replica,omitempty"`
}

var checkTimeout = slack.Of(2 * time.Second)

var errCheckTimeout = errors.New("no answer in time")

// healthz answers while the process lives, with the program's version.
func (s *server) healthz(w http.ResponseWriter, r *http.Request) {
	s.reply(w, r, http.StatusOK, health{Status: "ok", Version: cmp.Or(s.Version, "unknown")})
}

// readyz answers 503 while a check fails or the process shuts down, so that a load balancer stops sending requests.
func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
	defer cancel()
	answer, status := readiness{Status: "ok", Checks: make(map[string]string, len(s.Checks))}, http.StatusOK
	if s.Confinement != nil {
		answer.Confinement = s.Confinement()
	}
	if s.Replica != nil {
		answer.Replica = s.Replica()
	}
	for name, err := range s.runChecks(ctx) {
		answer.Checks[name] = "ok"
		if err != nil {
			if !s.Starting {
				s.Logger.WarnContext(ctx, "not ready", "check", name, "error", err)
			}
			answer.Checks[name] = "failing"
			if errors.Is(err, db.ErrRefusesConnections) {
				answer.Checks[name] = "refuses_connections"
			}
			answer.Status, status = "unavailable", http.StatusServiceUnavailable
		}
	}
	if s.Draining.Load() {
		answer.Status, status = "shutting_down", http.StatusServiceUnavailable
	}
	if status != http.StatusOK {
		w.Header().Set("Retry-After", "2")
	}
	s.reply(w, r, status, answer)
}

// runChecks runs the checks in parallel. A check that has not returned when ctx ends has failed: a driver may not return while
// the database neither answers nor closes the connection.
func (s *server) runChecks(ctx context.Context) map[string]error {
	type result struct {
		name string
		err  error
	}
	done := make(chan result, len(s.Checks))
	results := make(map[string]error, len(s.Checks))
	for name, check := range s.Checks {
		results[name] = errCheckTimeout
		go func() { done <- result{name, check(ctx)} }()
	}
	for range s.Checks {
		select {
		case r := <-done:
			results[r.name] = r.err
		case <-ctx.Done():
			return results
		}
	}
	return results
}
