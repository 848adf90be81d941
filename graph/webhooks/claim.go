package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
)

const (
	// prioritySeconds is the delivery time, taken lately, that lowers a job's priority by one of River's four.
	prioritySeconds = 10.0
	lowestPriority  = 4
	// maxSlow is the maximum number of concurrent deliveries of a process to endpoints that are not prompt: half of its workers
	// (package jobs), so that slow endpoints do not hold up the others.
	maxSlow = 16
	// roomSeconds is the delay until the queue checks a webhook again for which maxSlow left no room. Each check is a job, so a
	// thousand hanging endpoints cost a hundred jobs a second.
	roomSeconds = 10.0
)

// promptTime is the time within which a prompt endpoint answers.
var promptTime = slack.Of(2 * time.Second)

// DeliverJob is the job that makes a webhook's due deliveries.
type DeliverJob struct {
	WebhookID uuid.UUID `json:"webhook_id" db:"id"`
	// Used is the time that all endpoints of the agent took lately, in seconds.
	Used float64 `json:"-" db:"used_seconds"`
}

func (DeliverJob) Kind() string { return "deliver_webhook" }

// Priority returns 1 (first) to 4 (last): agents whose deliveries took little time go first.
func (j DeliverJob) Priority() int { return min(1+int(j.Used/prioritySeconds), lowestPriority) }

// endpoint is the agent of a webhook, and whether its endpoint has answered in time.
type endpoint struct {
	BotID  uuid.UUID `db:"bot_id"`
	Prompt bool      `db:"prompt"`
}

// claim claims a webhook of an agent for a minute, unless another job has it, or it is prompt and a job has another prompt
// webhook of the agent. If it cannot, it drops the job, and the queue adds the next one in time.
func (a *API) claim(ctx context.Context, botID, id uuid.UUID) (taken bool, err error) {
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (bool, error) {
		if _, err := tx.SQL.ExecContext(ctx, named("lock_webhooks").Text, botID); err != nil {
			return false, err
		}
		claimed, err := db.Column[uuid.UUID](ctx, tx.SQL, named("claim_webhook"), id)
		if err != nil || len(claimed) > 0 {
			return true, err
		}
		_, err = tx.SQL.ExecContext(ctx, named("leave_webhook").Text, id, 0.0)
		return false, err
	})
}

// release ends a claim, also after ctx has ended; a claim that is not released expires.
func (a *API) release(ctx context.Context, botID, id uuid.UUID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if _, err := tx.SQL.ExecContext(ctx, named("lock_webhooks").Text, botID); err != nil {
			return err
		}
		_, err := tx.SQL.ExecContext(ctx, named("release_webhook").Text, id)
		return err
	})
}
