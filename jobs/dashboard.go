package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"riverqueue.com/riverui"

	"stoa/graph/fault"
)

const (
	// DashboardPath is where the dashboard is mounted.
	DashboardPath = "/jobs"
	// DashboardPolicy is its Content-Security-Policy: no inline code; but what it draws with writes style elements.
	DashboardPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"font-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)

// maxAct is the size of an act's body in bytes.
const maxAct = 64 << 10

// dashboardActs is everything that can be changed on the dashboard. What is not in the table cannot be reached, so there is no
// act without an audit entry.
var dashboardActs = []struct{ pattern, act string }{
	{"POST " + DashboardPath + "/api/jobs/cancel", "cancel"},
	{"POST " + DashboardPath + "/api/jobs/delete", "delete"},
	{"POST " + DashboardPath + "/api/jobs/retry", "retry"},
	{"PUT " + DashboardPath + "/api/queues/{name}/pause", "pauseQueue"},
	{"PUT " + DashboardPath + "/api/queues/{name}/resume", "resumeQueue"},
	{"PATCH " + DashboardPath + "/api/queues/{name}", "updateQueue"},
}

// Dashboard is River's page over the jobs of the whole cluster, also on a process that works none. Whoever mounts it admits
// operators only and puts them into the context (graph/viewer); every change is audited before it is made.
type Dashboard struct {
	http.Handler
	stop context.CancelFunc
}

// NewDashboard starts what the page needs in the background, until Stop. The database must be there and migrated.
func NewDashboard(c Config) (*Dashboard, error) {
	logger := slog.New(riverLog{c.Logger.Handler()})
	client, err := river.NewClient(riverdatabasesql.New(c.DB.SQL), &river.Config{Logger: logger})
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	page, err := riverui.NewHandler(&riverui.HandlerOpts{
		Endpoints: riverui.NewEndpoints(client, nil), JobListHideArgsByDefault: true, Logger: logger, Prefix: DashboardPath,
	})
	if err != nil {
		return nil, fmt.Errorf("jobs: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	if err := page.Start(ctx); err != nil {
		stop()
		return nil, fmt.Errorf("jobs: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+DashboardPath, page)
	mux.Handle("GET "+DashboardPath+"/", page)
	for _, row := range dashboardActs {
		mux.Handle(row.pattern, audited(c, row.act, page))
	}
	return &Dashboard{Handler: mux, stop: stop}, nil
}

// Stop ends what runs in the background.
func (d *Dashboard) Stop() { d.stop() }

// audited passes an act on once its audit entry is committed.
func audited(c Config, act string, page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAct))
		if err != nil {
			refuseAct(w, fault.Wrap(fault.InvalidInput, err))
			return
		}
		details := make(map[string]any)
		if len(raw) > 0 && json.Unmarshal(raw, &details) != nil {
			refuseAct(w, fault.New(fault.InvalidInput))
			return
		}
		if err := c.Graph.Operator.AuditJobs(r.Context(), act, r.PathValue("name"), details); err != nil {
			known := fault.From(err)
			if known.Code == fault.InternalError {
				c.Logger.ErrorContext(r.Context(), "an act on jobs could not be audited", "act", act, "error", err)
			}
			refuseAct(w, known)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		page.ServeHTTP(w, r)
	})
}

// refuseAct answers in the form that the page shows.
func refuseAct(w http.ResponseWriter, known *fault.Error) {
	raw, err := json.Marshal(map[string]string{"message": known.Text()})
	if err != nil {
		panic(err) // texts always have a form
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(known.Status())
	_, _ = w.Write(raw) // a client that has gone away needs no answer
}
