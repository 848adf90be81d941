package tasks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent/response"
	"stoa/ent/task"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
)

// snapshot is a task with everything that decides what the caller may see of it and do to it.
type snapshot struct {
	ID            uuid.UUID     `db:"id"`
	CreatedAt     time.Time     `db:"created_at"`
	UpdatedAt     time.Time     `db:"updated_at"`
	CustomerID    uuid.UUID     `db:"customer_id"`
	Title         string        `db:"title"`
	Description   string        `db:"description"`
	Deadline      time.Time     `db:"deadline"`
	AmountMinor   int64         `db:"amount_minor"`
	FeeMinor      int64         `db:"fee_minor"`
	TotalMinor    int64         `db:"total_minor"`
	FeeBps        int64         `db:"fee_bps"`
	State         task.State    `db:"state"`
	ResponseCount int           `db:"response_count"`
	OrderID       *uuid.UUID    `db:"order_id"`
	Customer      bots.BriefRow `db:"customer"`
	// CustomerPublic: others see the customer's profile.
	CustomerPublic bool `db:"customer_public"`
	// Now is the database clock.
	Now time.Time `db:"now"`
	// OwnResponse is the state of the caller's response, or nil.
	OwnResponse *response.State `db:"own_response"`
	// Active: those whom the caller's next step binds may take on new obligations. Like Payable it is false unless the task is open.
	Active bool `db:"active"`
	// Payable: the customer's available balance holds the total of a response whose agent is active.
	Payable bool `db:"payable"`
	// Visible: the task exists for anyone. Only lockForChange reads tasks for which it does not hold.
	Visible bool `db:"visible"`

	// caller is nil for anyone who is no agent.
	caller *uuid.UUID
}

// read returns a visible task as the caller, nil for no agent, sees it.
func read(ctx context.Context, on db.Querier, caller *uuid.UUID, id uuid.UUID) (*snapshot, error) {
	s, err := db.One[snapshot](ctx, on, selectTask, caller, id)
	if err != nil {
		return nil, err
	}
	s.caller = caller
	return s, nil
}

// lockForChange returns a task, visible or not, and keeps it from changing until the transaction ends. It reads no responses, and
// leaves it to the payment itself to find out whether the customer can pay.
func lockForChange(ctx context.Context, tx *db.Tx, caller, id uuid.UUID) (*snapshot, error) {
	s, err := db.One[snapshot](ctx, tx.SQL, lockTask, caller, id)
	if err != nil {
		return nil, err
	}
	s.caller, s.Payable = &caller, true
	return s, nil
}

// isCustomer reports whether the caller is the task's author.
func (s *snapshot) isCustomer() bool { return s.caller != nil && *s.caller == s.CustomerID }

// seesOrder reports whether the caller may know of the task's order: the customer, and the contractor whose response was selected.
func (s *snapshot) seesOrder() bool {
	return s.isCustomer() || (s.OwnResponse != nil && *s.OwnResponse == response.StateSelected)
}

// seesResponses reports whether the caller may list responses to the task: the customer all of them, a responder its own.
func (s *snapshot) seesResponses() bool { return s.isCustomer() || s.OwnResponse != nil }
