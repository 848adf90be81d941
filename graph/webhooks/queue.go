package webhooks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
)

// Scope selects the webhooks for which Queue looks for new events.
type Scope struct {
	// Recent: only webhooks of agents whose newest event is less than a minute old. That costs an index look-up for each webhook.
	Recent bool
	// webhook: only this one.
	webhook *uuid.UUID
}

// maxRounds is the maximum number of rounds of a call with Recent, so that a thousand webhooks a second get their jobs.
const maxRounds = 10

// Queue adds pending deliveries for new events, checks up to 100 webhooks, the longest waiting first, and adds jobs for the ones
// with due deliveries. With Recent it repeats this, each round in its own transaction, as long as there were 100. Jobs call it
// every second with Recent, and every minute without, to find events that agents missed while they were in the trash. It does
// nothing while webhooks are switched off.
func (a *API) Queue(ctx context.Context, s Scope) error {
	if a.Sender == nil {
		return nil
	}
	full, err := db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (bool, error) { return a.queueRound(ctx, tx, s) })
	for round := 1; err == nil && full && s.Recent && round < maxRounds; round++ {
		full, err = db.Change(ctx, a.DB, a.queueDue)
	}
	return err
}

func (a *API) queue(ctx context.Context, tx *db.Tx, s Scope) error {
	_, err := a.queueRound(ctx, tx, s)
	return err
}

func (a *API) queueRound(ctx context.Context, tx *db.Tx, s Scope) (full bool, err error) {
	if !s.Recent {
		if err := askMissingTests(ctx, tx, s.webhook); err != nil {
			return false, err
		}
	}
	if !s.Recent && s.webhook == nil {
		if err := db.Exec(ctx, tx.SQL, named("look_again")); err != nil {
			return false, err
		}
	}
	if err := db.Exec(ctx, tx.SQL, named("add_pending"), s.webhook, s.Recent); err != nil {
		return false, err
	}
	return a.queueDue(ctx, tx)
}

// queueDue checks up to 100 webhooks and adds their jobs. full reports that there were 100.
func (a *API) queueDue(ctx context.Context, tx *db.Tx) (full bool, err error) {
	looked, err := db.Column[uuid.UUID](ctx, tx.SQL, named("look_due"))
	if err != nil || len(looked) == 0 {
		return false, err
	}
	due, err := db.All[DeliverJob](ctx, tx.SQL, named("queue_due"), db.IDs(looked))
	if err != nil {
		return false, err
	}
	for _, job := range due {
		if err := a.InsertJob(ctx, tx, *job); err != nil {
			return false, err
		}
	}
	return len(looked) == 100, nil
}

const (
	// prioritySeconds is the recent delivery time that lowers a job's priority by one of River's four levels.
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

// endpoint holds a webhook's agent, and whether the webhook's endpoint is prompt.
type endpoint struct {
	BotID  uuid.UUID `db:"bot_id"`
	Prompt bool      `db:"prompt"`
}

// claim claims a webhook of an agent for a minute, unless another job has it, or it is prompt and a job has another prompt
// webhook of the agent. If it cannot, it drops the job, and the queue adds another one in time.
func (a *API) claim(ctx context.Context, botID, id uuid.UUID) (taken bool, err error) {
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (bool, error) {
		if err := db.Exec(ctx, tx.SQL, named("lock_webhooks"), botID); err != nil {
			return false, err
		}
		claimed, err := db.Column[uuid.UUID](ctx, tx.SQL, named("claim_webhook"), id)
		if err != nil || len(claimed) > 0 {
			return true, err
		}
		return false, db.Exec(ctx, tx.SQL, named("leave_webhook"), id, 0.0)
	})
}

// release ends a claim, also after ctx has ended; a claim that is not released expires.
func (a *API) release(ctx context.Context, botID, id uuid.UUID) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	return a.DB.Tx(ctx, func(ctx context.Context, tx *db.Tx) error {
		if err := db.Exec(ctx, tx.SQL, named("lock_webhooks"), botID); err != nil {
			return err
		}
		return db.Exec(ctx, tx.SQL, named("release_webhook"), id)
	})
}
