package judge

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"stoa/cmd/prove/history"
)

// socketLooks is how long before a token's end a fault may still keep a server from noticing it.
const socketLooks = 5 * time.Second

// checkAudit compares the audit log with what operators have done.
func checkAudit(r *run, f *Finding) {
	there := make(map[string]int)
	for _, entry := range r.Final.Audit {
		procedure, target, _ := strings.Cut(entry, " ")
		there[procedure+" "]++
		if target != "" {
			there[entry]++
		}
	}
	done := make(map[string]int)
	for _, act := range r.Final.Acts {
		done[act]++
	}
	for _, act := range sorted(done) {
		f.Looked++
		if there[act] != done[act] {
			f.violatedf("the audit log has %d entries of %q, and it was done %d times", there[act], act, done[act])
		}
	}
}

// checkTokens compares what was done with each token with what had ended it by then.
func checkTokens(r *run, f *Finding) {
	ended := make(map[[2]string][]*history.Attempt) // by agent and token, the attempts to change or revoke it
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if is(history.TokenRotate, history.TokenRevoke, history.TokenReissue)(a) {
			key := [2]string{a.Agent, a.Of}
			ended[key] = append(ended[key], a)
		}
	}
	for i := range r.Attempts {
		a := &r.Attempts[i]
		if !is(history.TokenUse, history.TokenRotate, history.TokenSocket)(a) {
			continue
		}
		f.Looked++
		if a.Operation == history.TokenSocket && r.disturbed(a.Start-socketLooks, a.End) {
			f.Excused++
			continue
		}
		ends := slices.DeleteFunc(slices.Clone(ended[[2]string{a.Agent, a.Of}]), func(other *history.Attempt) bool { return other == a })
		isOver := slices.ContainsFunc(ends, func(other *history.Attempt) bool { return other.Succeeded() && other.End < a.Start })
		mayBeOver := slices.ContainsFunc(ends, func(other *history.Attempt) bool { return mayHaveActed(other) && other.Start < a.End })
		twice := a.Operation == history.TokenRotate && a.Succeeded() && slices.ContainsFunc(ends, func(other *history.Attempt) bool { return other.Succeeded() })
		switch {
		case twice:
			f.violatedf("%s of %s, which another request has changed as well", describe(a), a.Of)
		case a.Succeeded() && isOver:
			f.violatedf("%s with %s, which had ended", describe(a), a.Of)
		case a.Status == http.StatusUnauthorized && !mayBeOver:
			f.violatedf("%s with %s, which was good", describe(a), a.Of)
		}
	}
}

// checkTools compares the records that repeated calls of a tool name.
func checkTools(r *run, f *Finding) {
	for _, q := range r.requests {
		if q.operation() != history.ToolCall {
			continue
		}
		made := make(map[string]bool)
		for _, a := range q.attempts {
			body, ok := answerOf[struct {
				Result struct {
					IsError           bool
					StructuredContent struct{ Task struct{ ID string } }
				}
			}](a, f)
			switch {
			case !ok || body.Result.IsError:
			case body.Result.StructuredContent.Task.ID == "":
				f.violatedf("%s names no task", describe(a))
			default:
				made[body.Result.StructuredContent.Task.ID] = true
			}
		}
		if len(made) > 1 {
			f.violatedf("%s made %d tasks: %v", q, len(made), sorted(made))
		}
	}
}

// againWithin is how long after a failure a webhook is tried again: 5 s, and what a busy machine takes.
const againWithin = 45 * time.Second

// checkWebhooks looks for the next attempt at every event that a receiver did not take.
func checkWebhooks(r *run, f *Finding) {
	acked := make(map[string]time.Duration) // when an ack was answered first
	for _, ack := range r.Acks {
		if at, known := acked[ack.EventID]; !known || ack.Answered < at {
			acked[ack.EventID] = ack.Answered
		}
	}
	for i := range r.Deliveries {
		d := &r.Deliveries[i]
		if !d.Webhook {
			continue
		}
		f.Looked++
		at, known := acked[d.EventID]
		due := r.dueAfter(d.At, d.At, againWithin)
		taken := d.Answer < http.StatusMultipleChoices || known && at < due
		if !taken && r.Length < due && r.Length >= d.At+againWithin {
			f.Excused++
		}
		if taken || r.Length < due {
			continue
		}
		if !slices.ContainsFunc(r.Deliveries, func(later history.Delivery) bool { return later.EventID == d.EventID && later.At > d.At }) {
			f.violatedf("event %s of %s was answered %d at %s and never came again", d.EventID, d.Agent, d.Answer, clock(d.At))
		}
	}
}
