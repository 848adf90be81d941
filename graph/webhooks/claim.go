package webhooks

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
)

// rival is a webhook of the agent to which a job wants to deliver.
type rival struct {
	load

	// Claimed: a job is delivering to it.
	Claimed bool `db:"claimed"`
}

// claim takes a webhook for a minute. It does not if another job has it, if it is now of a slower class than the job, or if a job has
// another prompt webhook of the agent and this job is not Slow. Then it forgets the job, and the queue asks for the right one.
func (a *API) claim(ctx context.Context, id uuid.UUID, class Class) (taken bool, err error) {
	err = a.underLock(ctx, id, func(ctx context.Context, tx *db.Tx, all []*rival) error {
		taken = mayTake(all, id, class)
		if taken {
			_, err := tx.SQL.ExecContext(ctx, claimWebhook.Text, id)
			return err
		}
		_, err := tx.SQL.ExecContext(ctx, leaveWebhook.Text, id, 0.0)
		return err
	})
	return taken, err
}

// mayTake decides about a claim.
func mayTake(all []*rival, id uuid.UUID, class Class) bool {
	may := false
	for _, r := range all {
		switch {
		case r.ID == id:
			may = !r.Claimed && r.class() <= class
		case r.Claimed && r.Prompt && class != Slow:
			return false
		}
	}
	return may
}

// release ends a claim, also after ctx has ended; a claim that is not released runs out by itself.
func (a *API) release(ctx context.Context, id uuid.UUID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return a.underLock(ctx, id, func(ctx context.Context, tx *db.Tx, _ []*rival) error {
		_, err := tx.SQL.ExecContext(ctx, releaseWebhook.Text, id)
		return err
	})
}

// underLock calls do with all webhooks of the agent of a webhook locked, unless that is gone.
func (a *API) underLock(ctx context.Context, id uuid.UUID, do func(context.Context, *db.Tx, []*rival) error) error {
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		agents, err := db.Column[uuid.UUID](ctx, tx.SQL, agentOf, id)
		if err != nil || len(agents) == 0 {
			return err
		}
		if _, err := tx.SQL.ExecContext(ctx, lockWebhooks.Text, agents[0]); err != nil {
			return err
		}
		all, err := db.All[rival](ctx, tx.SQL, workload, agents[0])
		if err != nil {
			return err
		}
		return do(ctx, tx, all)
	})
}
