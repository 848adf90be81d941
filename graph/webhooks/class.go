package webhooks

import (
	"time"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/slack"
)

const (
	// lightSeconds is how much time an agent's deliveries may have taken lately, the next one included, to be light.
	lightSeconds = 1.0
	// prioritySeconds is how much more time, taken lately, gives a job the next lower of River's four priorities.
	prioritySeconds = 10.0
	lowestPriority  = 4
)

// promptTime is within which an endpoint must answer to be prompt: to have its next delivery among the light or the busy ones.
var promptTime = slack.Of(2 * time.Second)

// Class is which workers deliver to a webhook.
type Class int

// The classes. Each has separate workers.
const (
	// Light are webhooks of agents whose endpoints have lately taken little time and will take little. Of one agent it is one at a
	// time, among the light and busy ones.
	Light Class = iota
	// Busy are webhooks whose endpoints answer in time, but take a lot of it.
	Busy
	// Slow are webhooks whose endpoint did not answer in time, or has not shown so yet.
	Slow
)

// load is a webhook and what is known of the time that its endpoint takes.
type load struct {
	ID uuid.UUID `db:"id"`
	// Prompt: its endpoint has answered in time.
	Prompt bool `db:"prompt"`
	// Took is how long its endpoint took for the last answer, Used how long all endpoints of the agent took lately, in seconds.
	Took float64 `db:"took_seconds"`
	Used float64 `db:"used_seconds"`
}

// class is the rule of who delivers to a webhook.
func (l load) class() Class {
	switch {
	case !l.Prompt:
		return Slow
	case l.Used+l.Took > lightSeconds:
		return Busy
	default:
		return Light
	}
}

// job asks for the deliveries that are due to the webhook.
func (l load) job() db.Job {
	after := queued{WebhookID: l.ID, used: l.Used}
	switch l.class() {
	case Light:
		return DeliverJob{after}
	case Busy:
		return DeliverBusyJob{after}
	default:
		return DeliverSlowJob{after}
	}
}

// queued holds the arguments of the jobs of all classes.
type queued struct {
	WebhookID uuid.UUID `json:"webhook_id"`
	used      float64
}

// Priority makes the jobs of agents whose deliveries took little time go before those of others: 1 is the first, 4 the last.
func (q queued) Priority() int { return min(1+int(q.used/prioritySeconds), lowestPriority) }

// DeliverJob asks for the deliveries that are due to a light webhook.
type DeliverJob struct{ queued }

// DeliverBusyJob asks for those to a busy one.
type DeliverBusyJob struct{ queued }

// DeliverSlowJob asks for those to a slow one.
type DeliverSlowJob struct{ queued }

// Kind implements db.Job.
func (DeliverJob) Kind() string { return "deliver_webhook" }

// Kind implements db.Job.
func (DeliverBusyJob) Kind() string { return "deliver_busy_webhook" }

// Kind implements db.Job.
func (DeliverSlowJob) Kind() string { return "deliver_slow_webhook" }
