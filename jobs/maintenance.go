package jobs

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"stoa/graph/attachments"
	"stoa/graph/platform/db"
	"stoa/graph/platform/metrics"
	"stoa/graph/platform/tracing"
	"stoa/graph/wallet"
	"stoa/jobs/inspection"
)

// cosign submits the head of the key log to the witnesses that have not signed it. It does not fail if a witness does not sign.
func cosign(ctx context.Context, c Config) error {
	refused, err := c.Graph.KeyLog.Cosign(ctx)
	if refused != nil {
		c.Logger.WarnContext(ctx, "witnesses did not sign the key log", "error", refused)
	}
	return err
}

// analyzeGrown analyzes tables that have grown by half. A prepared statement keeps the plan of an empty table until the table is
// analyzed, and autovacuum does that once a minute at most. Until then a database that fills quickly would use such plans.
func analyzeGrown(ctx context.Context, c Config) error {
	ctx = db.Patient(ctx)
	grown, err := db.Column[string](ctx, c.DB.SQL, named("grown_tables"))
	if err != nil || len(grown) == 0 {
		return err
	}
	_, err = c.DB.SQL.ExecContext(ctx, "ANALYZE (SKIP_LOCKED) "+strings.Join(grown, ", "))
	return err
}

// cleanUp deletes records past their retention. One sweep that fails does not keep the others from running.
func cleanUp(ctx context.Context, c Config) error {
	var failed []error
	for _, r := range c.Graph.Operator.Kept {
		if r.Sweep == nil {
			continue
		}
		n, err := r.Sweep(ctx)
		if n > 0 {
			c.Logger.InfoContext(ctx, "cleaned up", "sweep", r.Name, "deleted", n)
		}
		if err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", r.Name, err))
		}
	}
	return errors.Join(failed...)
}

// maxReconcile is the time after which ledgerReport leaves the rest to its next run; a slice lasts about a second.
const maxReconcile = 20 * time.Minute

// ledgerReport checks the ledger: new entries at each run, and all entries once a day, in slices that any process may continue.
// A discrepancy is a defect or a break-in: it is logged as an error, each time anew, and kept for /metrics of every process.
func ledgerReport(ctx context.Context, c Config) error {
	end := time.Now().Add(maxReconcile)
	for _, scope := range wallet.Scopes() {
		for over := false; !over && time.Now().Before(end); {
			var (
				found []wallet.Discrepancy
				err   error
			)
			if found, over, err = c.Graph.Wallet.ContinueCheck(ctx, scope); err != nil {
				return err
			}
			for _, d := range found {
				c.Logger.ErrorContext(ctx, "the ledger does not balance", "scope", scope, "check", d.Check, "bot_id", d.BotID,
					"transaction_id", d.TransactionID, "expected", d.Expected, "found", d.Found)
			}
		}
	}
	return nil
}

// InspectFile is an attachments.Inspector that starts a child process for each file. Tests use it; the server keeps a child
// started ahead (Config.Inspector).
func InspectFile(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
	return report(new(inspection.Inspector).Inspect(ctx, inspection.Request{Original: original, Purpose: inspection.Purpose(purpose)}))
}

// inspect is the attachments.Inspector of the server, measured.
func (c Config) inspect(ctx context.Context, original *os.File, purpose attachments.Purpose) (attachments.Report, error) {
	began := time.Now()
	ctx, end := tracing.Operation(ctx, "inspection.Inspect")
	made, err := report(c.Inspector.Inspect(ctx, inspection.Request{Original: original, Purpose: inspection.Purpose(purpose)}))
	verdict := metrics.Refused
	switch {
	case err != nil:
		verdict = metrics.Undecided
	case made.Accepted:
		verdict = metrics.Accepted
	}
	c.Metrics.Inspections.Done(time.Since(began), verdict)
	end(err)
	return made, err
}

// DrawPage is the attachments.PageDrawer of a server. It starts a child process for each page.
func DrawPage(ctx context.Context, original *os.File, page int) (attachments.Report, error) {
	return report(new(inspection.Inspector).Inspect(ctx, inspection.Request{Original: original, Purpose: inspection.Order, Page: page}))
}

// report is the report of an inspection for the domain. A file whose child reached a limit of processor time or memory is
// refused. If a child ended in any other way without a report, also because it got too little of the processor, the error is
// ErrCrashed.
func report(report inspection.Report, err error) (attachments.Report, error) {
	switch {
	case err != nil:
		return attachments.Report{}, err
	case report.Ending == inspection.Crashed:
		return attachments.Report{Processor: report.Processor}, attachments.ErrCrashed
	}
	return attachments.Report{
		Accepted: report.Accepted, Reason: report.Reason, MediaType: string(report.MediaType),
		Width: report.Width, Height: report.Height, Pages: report.Pages,
		Preview: report.Preview, Published: report.Published, Processor: report.Processor,
	}, nil
}

//go:embed jobs.sql
var files embed.FS

var named = db.Load(files).Named

// counted lists the states whose jobs are counted: all but the successful ends.
var counted = pq.StringArray{"available", "running", "retryable", "scheduled", "discarded"}

// Metrics reads the queues of the whole cluster, for /metrics, on any process that has the database.
func Metrics(database db.Querier) metrics.Reader {
	names := pq.StringArray(slices.Sorted(maps.Keys(queues)))
	return func(ctx context.Context) ([]metrics.Value, error) {
		waiting, err := db.All[struct {
			Queue string  `db:"queue"`
			State string  `db:"state"`
			Jobs  float64 `db:"jobs"`
		}](ctx, database, named("count_jobs"), names, counted)
		if err != nil {
			return nil, err
		}
		late, err := db.All[struct {
			Queue   string  `db:"queue"`
			Seconds float64 `db:"seconds"`
		}](ctx, database, named("jobs_lag"), names)
		if err != nil {
			return nil, err
		}
		var all []metrics.Value
		for _, r := range waiting {
			all = append(all, metrics.Value{Name: "stoa_jobs", Labels: []string{r.Queue, r.State}, Value: r.Jobs})
		}
		for _, r := range late {
			all = append(all, metrics.Value{Name: "stoa_jobs_oldest_available_seconds", Labels: []string{r.Queue}, Value: max(r.Seconds, 0)})
		}
		return all, nil
	}
}
