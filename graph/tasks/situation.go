package tasks

import (
	"time"

	"github.com/google/uuid"

	"stoa/ent"
	"stoa/ent/response"
	"stoa/graph/bots"
)

// situation is a task with everything that decides what the caller may see of it and do to it.
type situation struct {
	task     ent.Task
	customer bots.BriefRow
	// caller is nil for anyone who is no agent.
	caller *uuid.UUID
	// now is the database clock.
	now time.Time
	// own is the state of the caller's response, nil where there is none.
	own *response.State
	// The last two are looked at only while the task is open.
	// active: those whom the caller's next step binds may take on new obligations.
	active bool
	// payable: the customer's available balance holds the total of a response whose agent is active.
	payable bool
}

// columns of a situation: the task t and its customer c.
var columns = `t.id, t.created_at, t.updated_at, t.customer_id, t.title, t.description, t.deadline, t.amount_minor, t.fee_minor, t.total_minor,
  t.fee_bps, t.state, t.response_count, t.order_id, ` + customer

// customer and responder are what a brief card needs of an agent.
var customer, responder = bots.BriefColumns("c"), bots.BriefColumns("b")

// facts of a task that the caller $1 reads: now, own, active, payable. The fee is that of orders.Price.
const facts = `stoa_now(), (SELECT r.state FROM responses r WHERE r.task_id = t.id AND r.bot_id = $1::uuid),
  t.state = 'open' AND m.id IS NOT NULL AND stoa_active(m) AND stoa_active(c),
  t.state = 'open' AND m.id IS NOT NULL AND t.customer_id = m.id AND t.response_count > 0 AND EXISTS (
    SELECT FROM responses r JOIN bots b ON b.id = r.bot_id JOIN accounts a ON a.bot_id = t.customer_id
    WHERE r.task_id = t.id AND r.amount_minor + (r.amount_minor * t.fee_bps + 5000) / 10000 <= a.available_minor AND stoa_active(b))`

// joined are the customer of a task t and the caller $1.
const joined = ` JOIN bots c ON c.id = t.customer_id LEFT JOIN bots m ON m.id = $1::uuid`

// taskTargets are those of columns, in their order.
func (s *situation) taskTargets() []any {
	t := &s.task
	return append([]any{
		&t.ID, &t.CreatedAt, &t.UpdatedAt, &t.CustomerID, &t.Title, &t.Description, &t.Deadline, &t.AmountMinor, &t.FeeMinor, &t.TotalMinor,
		&t.FeeBps, &t.State, &t.ResponseCount, &t.OrderID,
	}, s.customer.Targets()...)
}

// targets of columns and facts, in their order.
func (s *situation) targets() []any {
	return append(s.taskTargets(), &s.now, &s.own, &s.active, &s.payable)
}
