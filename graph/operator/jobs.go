package operator

import (
	"context"

	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
)

// jobsReason stands in the audit log for the acts of a page that asks for none.
const jobsReason = "from the jobs dashboard"

// AuditJobs writes the audit entry of what an operator is about to do to jobs or queues, which have transactions of their own: the
// entry is committed before the act, and stays if the act is refused. Faults: unauthorized.
func (a *API) AuditJobs(ctx context.Context, act, target string, details map[string]any) error {
	if err := allow(ctx, jobsReason, fault.Fields{}); err != nil {
		return err
	}
	_, err := audited(ctx, a, entry{Procedure{Name: "jobs." + act}, target, jobsReason, details}, func(context.Context, *db.Tx) (struct{}, error) {
		return struct{}{}, nil
	})
	return err
}
