package rest

import (
	"context"
	"errors"
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
	// Confinement is for operators alone (Readiness); §9 has no such member.
	Confinement any `json:"confinement,omitempty"`
}

const checkTimeout = 2 * time.Second

var errNoFinding = errors.New("no answer in time")

// alive answers while the process lives.
func (s *server) alive(w http.ResponseWriter, r *http.Request) {
	s.reply(w, r, http.StatusOK, alive{Status: "ok"})
}

// ready answers 503 while a check fails or the process shuts down; a load balancer stops sending then.
func (s *server) ready(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), checkTimeout)
	defer cancel()
	answer, status := readiness{Status: "ok", Checks: make(map[string]string, len(s.Checks))}, http.StatusOK
	if s.Confinement != nil {
		answer.Confinement = s.Confinement()
	}
	for name, err := range s.examine(ctx) {
		answer.Checks[name] = "ok"
		if err != nil {
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

// examine runs the checks side by side. One that has not returned at the end of ctx has failed: a driver that waits for a
// database which neither answers nor hangs up does not heed ctx.
func (s *server) examine(ctx context.Context) map[string]error {
	type finding struct {
		name string
		err  error
	}
	findings := make(chan finding, len(s.Checks))
	results := make(map[string]error, len(s.Checks))
	for name, check := range s.Checks {
		results[name] = errNoFinding
		go func() { findings <- finding{name, check(ctx)} }()
	}
	for range s.Checks {
		select {
		case f := <-findings:
			results[f.name] = f.err
		case <-ctx.Done():
			return results
		}
	}
	return results
}
