package rest

import (
	"context"
	"net/http"
	"time"
)

// Check is one reason why a process may not be ready.
type Check func(context.Context) error

type alive struct {
	Status string `json:"status"`
}

type readiness struct {
	Status string            `json:"status"`
	Checks map[string]string `json:"checks"`
}

const checkTimeout = 2 * time.Second

// alive answers while the process lives.
func (s *server) alive(w http.ResponseWriter, r *http.Request) {
	s.reply(w, r, http.StatusOK, alive{Status: "ok"})
}

// ready answers 503 while a check fails or the process shuts down; a load balancer stops sending then.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
	defer cancel()
	answer, status := readiness{Status: "ok", Checks: make(map[string]string, len(s.Checks))}, http.StatusOK
	for name, check := range s.Checks {
		answer.Checks[name] = "ok"
		if err := check(ctx); err != nil {
			if !s.Starting {
				s.Logger.WarnContext(ctx, "not ready", "check", name, "error", err)
			}
			answer.Checks[name] = "failing"
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
