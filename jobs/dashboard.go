package jobs

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"riverqueue.com/riverui"
)

const (
	// DashboardPath is where the dashboard is mounted.
	DashboardPath = "/jobs"
	// DashboardPolicy is its Content-Security-Policy: no inline code; but what it draws with writes style elements.
	DashboardPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"font-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"
)

// Dashboard is River's page over the jobs of the whole cluster, also on a process that works none. Whoever mounts it admits
// operators only and puts them into the context (graph/platform/viewer); every change is audited before it is made.
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
	shown := patient(c.DB, page)
	mux.Handle("GET "+DashboardPath, shown)
	mux.Handle("GET "+DashboardPath+"/", shown)
	for _, row := range dashboardActs {
		mux.Handle(row.pattern, audited(c, row.act, shown))
	}
	return &Dashboard{Handler: mux, stop: stop}, nil
}

// Stop ends what runs in the background.
func (d *Dashboard) Stop() { d.stop() }
