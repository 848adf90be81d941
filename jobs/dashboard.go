package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"riverqueue.com/riverui"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
)

const (
	// DashboardPath is where the dashboard is mounted.
	DashboardPath = "/jobs"
	// DashboardPolicy is its Content-Security-Policy: no inline code, but its drawing library writes style elements.
	DashboardPolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
		"font-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'"

	maxAction    = 64 << 10    // bytes of an action's body
	maxQueueName = 64          // characters of a queue's name, River's own limit
	pingTimeout  = time.Second // how long the database may take to answer
)

// Dashboard is River's page over the jobs of the whole cluster, also on a process that runs none. The handler that mounts it
// must admit operators only and put them into the context (graph/platform/viewer); every change is audited before it is made.
type Dashboard struct {
	http.Handler
	stop context.CancelFunc
}

// NewDashboard starts the background work of the page, until Stop. The database must be there and migrated.
func NewDashboard(c Config) (*Dashboard, error) {
	logger := slog.New(riverLog{c.Logger.Handler()})
	client, err := river.NewClient(riverdatabasesql.New(c.DB.Direct), &river.Config{Logger: logger})
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
	shown := withDatabase(c, page)
	opened := defaultView(c)
	mux.Handle("GET "+DashboardPath, opened)
	mux.Handle("GET "+DashboardPath+"/{$}", opened)
	mux.Handle("GET "+DashboardPath+"/", withConsoleLink(shown))
	for _, row := range dashboardActions {
		mux.Handle(row.pattern, audited(c, row.name, shown))
	}
	return &Dashboard{Handler: mux, stop: stop}, nil
}

// Stop ends the background work.
func (d *Dashboard) Stop() { d.stop() }

// dashboardActions lists every change that the dashboard can make, with its name in the audit log. An action that is not listed
// cannot be reached, so there is no change without an audit entry.
var dashboardActions = []struct{ pattern, name string }{
	{"POST " + DashboardPath + "/api/jobs/cancel", "cancel"},
	{"POST " + DashboardPath + "/api/jobs/delete", "delete"},
	{"POST " + DashboardPath + "/api/jobs/retry", "retry"},
	{"PUT " + DashboardPath + "/api/queues/{name}/pause", "pauseQueue"},
	{"PUT " + DashboardPath + "/api/queues/{name}/resume", "resumeQueue"},
}

// actionBody is the body of an action on jobs; one on a queue has none, or an empty object.
type actionBody struct {
	IDs []string `json:"ids"`
}

// readAction reads the ids of jobs and the name of the queue that an action concerns. The audit log keeps them for ever, so
// anything else is invalid_input.
func readAction(r *http.Request, raw []byte) (queue string, details map[string]any, err error) {
	var sent actionBody
	if len(raw) > 0 {
		if err := wire.Unmarshal(raw, &sent); err != nil {
			return "", nil, fault.Wrap(fault.InvalidInput, err)
		}
	}
	details = make(map[string]any)
	for _, id := range sent.IDs {
		if _, err := strconv.ParseInt(id, 10, 64); err != nil {
			return "", nil, fault.Wrap(fault.InvalidInput, err)
		}
		details["ids"] = sent.IDs
	}
	queue = r.PathValue("name")
	if _, err := text.Line(queue, 0, maxQueueName); err != nil {
		return "", nil, fault.Wrap(fault.InvalidInput, err)
	}
	return queue, details, nil
}

// audited passes an action on once its audit entry is committed.
func audited(c Config, name string, page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAction))
		if err != nil {
			refuseAction(c.Logger, w, r, fault.Wrap(fault.InvalidInput, err))
			return
		}
		queue, details, err := readAction(r, raw)
		if err != nil {
			refuseAction(c.Logger, w, r, err)
			return
		}
		if err := c.Graph.Operator.AuditJobs(r.Context(), name, queue, details); err != nil {
			refuseAction(c.Logger, w, r, err)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(raw))
		page.ServeHTTP(w, r)
	})
}

// refuseAction answers in the form that the page shows, and logs what operators must know about.
func refuseAction(log *slog.Logger, w http.ResponseWriter, r *http.Request, err error) {
	known := fault.From(err)
	web.LogFault(r.Context(), log, known, err, "request_id", w.Header().Get(web.RequestIDHeader), "method", r.Method, "path", r.URL.Path)
	raw, err := json.Marshal(map[string]string{"message": known.Text()})
	if err != nil {
		panic(err) // a map of strings can be marshalled
	}
	web.ErrorHeaders(w.Header(), known)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(known.Status())
	_, _ = w.Write(raw) // a client that has gone away needs no answer
}

// withDatabase answers 503 while the database does not answer; the page alone would answer 500.
func withDatabase(c Config, page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), pingTimeout)
		defer cancel()
		if err := c.DB.Ping(ctx); err != nil {
			refuseAction(c.Logger, w, r, fault.Wrap(fault.ServiceUnavailable, err))
			return
		}
		page.ServeHTTP(w, r)
	})
}

// defaultView redirects from the dashboard's address to the jobs that failed for good within a day, else to the failed jobs that
// are tried again, else to the waiting ones.
func defaultView(c Config) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := db.Bounded(r.Context(), db.RequestTimeout)
		defer cancel()
		states, err := db.Column[string](ctx, c.DB.SQL, named("select_opening"))
		if err != nil {
			refuseAction(c.Logger, w, r, err)
			return
		}
		w.Header().Set("Location", DashboardPath+"/jobs?state="+states[0])
		w.WriteHeader(http.StatusSeeOther)
	})
}

// consoleLink leads from the dashboard, which draws its own navigation, to the console.
const consoleLink = `<nav aria-label="Console"><a href="/" style="position:fixed;inset-inline-end:1rem;bottom:1rem;z-index:99;padding:.5rem .9rem;border:1px solid;border-radius:.4rem;` +
	`background:Canvas;color:LinkText;font:600 .9375rem system-ui,sans-serif;color-scheme:light dark">Back to the console</a></nav>`

// withConsoleLink adds consoleLink to the pages of the dashboard; it leaves data and assets unchanged.
func withConsoleLink(page http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, DashboardPath+"/api/") || strings.HasPrefix(r.URL.Path, DashboardPath+"/assets/") {
			page.ServeHTTP(w, r)
			return
		}
		kept := web.Keep(w.Header())
		page.ServeHTTP(kept, r)
		body := kept.Body.Bytes()
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			body = bytes.Replace(body, []byte("</body>"), []byte(consoleLink+"</body>"), 1)
			w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		}
		w.WriteHeader(kept.Status)
		_, _ = w.Write(body) // a client that has gone away needs no answer
	})
}
