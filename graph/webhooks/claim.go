package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
)

const (
	// prioritySeconds is how much more time, taken lately, gives a job the next lower of River's four priorities.
	prioritySeconds = 10.0
	lowestPriority  = 4
	// maxSlow is how many deliveries to endpoints that are not prompt a process makes at once, which is half of its workers (package
	// jobs). So they do not hold up the others.
	maxSlow = 16
	// roomSeconds is when the queue looks again at a webhook for which there was no room. Each look is a job, so a thousand endpoints
	// that hang cost a hundred jobs a second.
	roomSeconds = 10.0
)

// promptTime is within which an endpoint must answer to be prompt.
var promptTime = slack.Of(2 * time.Second)

// DeliverJob asks for the deliveries that are due to a webhook.
type DeliverJob struct {
	WebhookID uuid.UUID `json:"webhook_id" db:"id"`
	// Used is how long all endpoints of the agent took lately, in seconds.
	Used float64 `json:"-" db:"used_seconds"`
}

func (DeliverJob) Kind() string { return "deliver_webhook" }

// Priority makes the jobs of agents whose deliveries took little time go before those of others: 1 is the first, 4 the last.
func (j DeliverJob) Priority() int { return min(1+int(j.Used/prioritySeconds), lowestPriority) }

// endpoint is the agent of a webhook, and whether its endpoint has answered in time.
type endpoint struct {
	BotID  uuid.UUID `db:"bot_id"`
	Prompt bool      `db:"prompt"`
}

// claim takes a webhook of an agent for a minute. It does not if another job has it, or if it is prompt and a job has another prompt
// one of the agent. Then it forgets the job, and the queue asks for the next one in time.
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

// release ends a claim, also after ctx has ended; a claim that is not released runs out by itself.
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
