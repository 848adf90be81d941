package tasks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent/response"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
)

// snapshot is a task with the facts that decide about the caller's rights.
type snapshot struct {
	Card

	CustomerID uuid.UUID     `db:"customer_id"`
	Ordered    *uuid.UUID    `db:"order_id"`
	By         bots.BriefRow `db:"customer"`
	// Now is the database clock.
	Now time.Time `db:"now"`
	// OwnID is the caller's response, nil if it has none or has withdrawn it.
	OwnID *uuid.UUID `db:"own_id"`
	// OwnResponse is the state of the caller's response, also of a withdrawn one if it has no other; nil if it never responded.
	OwnResponse *response.State `db:"own_response"`
	// Blocked reports that the caller or the customer has blocked the other.
	Blocked bool `db:"blocked"`
	// Active reports that the agents bound by the caller's next step may take on new obligations. Active and Payable are false
	// unless the task is open.
	Active bool `db:"active"`
	// Payable reports that the customer's available balance covers the total of a response whose agent is active.
	Payable bool `db:"payable"`
	// Visible reports that the task exists for anyone. Only lockForChange reads tasks that are not visible.
	Visible bool `db:"visible"`
	// Present reports that it also exists for agents that are neither its customer nor responders.
	Present bool `db:"present"`
	// CallerID is the zero UUID unless an agent calls. Caller is its brief, which only lockForChange reads.
	CallerID uuid.UUID     `db:"caller_id"`
	Caller   bots.BriefRow `db:"caller"`
}

// read returns a visible task as the caller sees it; caller is the zero UUID unless an agent calls.
func read(ctx context.Context, on db.Querier, caller, id uuid.UUID) (*snapshot, error) {
	return db.One[snapshot](ctx, on, named("select_task"), caller, id)
}

// lockForChange returns a task, visible or not, and locks it and its responses until the transaction ends. The payment itself
// checks whether the customer can pay.
func lockForChange(ctx context.Context, tx *db.Tx, caller, id uuid.UUID) (*snapshot, error) {
	if _, err := tx.SQL.ExecContext(ctx, named("lock_task").Text, id); err != nil {
		return nil, err
	}
	s, err := db.One[snapshot](ctx, tx.SQL, named("select_for_change"), caller, id)
	if err != nil {
		return nil, err
	}
	s.Payable = true
	return s, nil
}

// isCustomer reports whether the caller is the task's author.
func (s *snapshot) isCustomer() bool { return s.CallerID == s.CustomerID }

// seesOrder reports whether the caller may see the task's order: the customer, and the contractor whose response was selected.
func (s *snapshot) seesOrder() bool {
	return s.isCustomer() || (s.OwnResponse != nil && *s.OwnResponse == response.StateSelected)
}

// seesResponses reports whether the caller may list responses: the customer all responses to the task, a responder its own.
func (s *snapshot) seesResponses() bool { return s.isCustomer() || s.OwnResponse != nil }
