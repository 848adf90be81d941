package rest

import (
	"cmp"
	"errors"
	"net/http"

	"stoa/graph/platform/db"
)

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

// healthz answers while the process lives, with the program's version.
func (s *server) healthz(w http.ResponseWriter, r *http.Request) {
	s.reply(w, r, http.StatusOK, health{Status: "ok", Version: cmp.Or(s.Version, "unknown")})
}

// readyz answers 503 while a check fails or the process shuts down, so that a load balancer stops sending requests.
func (s *server) readyz(w http.ResponseWriter, r *http.Request) {
	answer, status := readiness{Status: "ok", Checks: make(map[string]string, len(s.Checks))}, http.StatusOK
	if s.Confinement != nil {
		answer.Confinement = s.Confinement()
	}
	if s.Replica != nil {
		answer.Replica = s.Replica()
	}
	for name, err := range s.Checks.Run(r.Context()) {
		answer.Checks[name] = "ok"
		if err != nil {
			if !s.Starting {
				s.Logger.WarnContext(r.Context(), "not ready", "check", name, "error", err)
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
