package operator

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/lib/pq"

	"stoa/graph/platform/db"
)

// silence is the time without a report after which a process is considered dead.
const silence = time.Minute

// processRow is a row of select_processes.
type processRow struct {
	Process

	Roles   pq.StringArray
	Failing pq.StringArray
}

// processes returns the serving processes, and the processes of the last day that did not end properly.
func (a *API) processes(ctx context.Context) (all []*Process, err error) {
	rows, err := db.All[processRow](ctx, a.DB.SQL, named("select_processes"), silence.Seconds())
	for _, r := range rows {
		r.Process.Roles, r.Process.Failing = r.Roles, r.Failing
		all = append(all, &r.Process)
	}
	return all, err
}

// RecordProcess renews the report of a process. A process must call it more often than once a minute.
func (a *API) RecordProcess(ctx context.Context, p Process) error {
	_, err := a.DB.SQL.ExecContext(ctx, named("record_process").Text, p.ID, p.Name, p.Version, pq.StringArray(p.Roles), pq.StringArray(p.Failing),
		p.DiskFreeBytes, p.DiskTotalBytes)
	return err
}

// ForgetProcess removes a process that ends.
func (a *API) ForgetProcess(ctx context.Context, id uuid.UUID) error {
	_, err := a.DB.SQL.ExecContext(ctx, named("delete_process").Text, id)
	return err
}
