package tasks

import (
	"context"

	"github.com/google/uuid"

	"stoa/ent/response"
	"stoa/ent/task"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/viewer"
)

// UpdateResponse changes the text or the reward of a response, or both (§4.9). Only its author may call it, while the response
// and its task are open. Faults in this order: invalid_id, invalid_input, not_found (also if the caller does not see the
// response), forbidden (the task's customer), contact_blocked (the author or the customer has blocked the other), invalid_input
// for a reward whose total would be over 10^12, state_conflict, deadline_passed.
func (a *API) UpdateResponse(ctx context.Context, in UpdateResponseInput) (*ResponseResult, error) {
	v, changes, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return a.changeResponse(ctx, v.BotID, changes.id, func(ctx context.Context, tx *db.Tx, s *snapshot, r *responseRow) error {
		if s.Blocked {
			return fault.New(notBlocked.refusal)
		}
		if changes.text != nil {
			r.Text = *changes.text
		}
		if changes.amountMinor != nil {
			r.AmountMinor = *changes.amountMinor
		}
		price, err := orders.Price(r.AmountMinor, s.FeeBps)
		if err != nil {
			return err
		}
		if err := requireOpen(s, r); err != nil {
			return err
		}
		if !beforeDeadline.holds(s) {
			return fault.New(beforeDeadline.refusal)
		}
		r.FeeMinor, r.TotalMinor, r.UpdatedAt = price.FeeMinor, price.TotalMinor, s.Now
		return tx.Ent.Response.UpdateOneID(r.ID).SetText(r.Text).SetAmountMinor(r.AmountMinor).SetTotalMinor(price.TotalMinor).
			SetUpdatedAt(s.Now).Exec(ctx)
	})
}

// WithdrawResponse withdraws a response; its author may respond again, under a new id (§4.9). Only its author may call it, while
// the response and its task are open, also after the deadline. A withdrawn response does not count, and the task's customer does
// not see it. Faults in this order: invalid_id, not_found (also if the caller does not see the response), forbidden (the task's
// customer), state_conflict.
func (a *API) WithdrawResponse(ctx context.Context, in ResponseInput) (*ResponseResult, error) {
	v, id, err := viewer.Checked(ctx, in.Check)
	if err != nil {
		return nil, err
	}
	return a.changeResponse(ctx, v.BotID, id, func(ctx context.Context, tx *db.Tx, s *snapshot, r *responseRow) error {
		if err := requireOpen(s, r); err != nil {
			return err
		}
		r.State, r.UpdatedAt = string(response.StateWithdrawn), s.Now
		_, err := tx.SQL.ExecContext(ctx, named("withdraw_response").Text, s.ID, r.ID, s.Now)
		return err
	})
}

// changeResponse lets the caller change its own response under the lock of the task. change makes the remaining checks, changes
// the given row, and writes it. Faults: not_found, forbidden, and the faults of change.
func (a *API) changeResponse(
	ctx context.Context, caller uuid.UUID, id responseID,
	change func(ctx context.Context, tx *db.Tx, s *snapshot, r *responseRow) error,
) (*ResponseResult, error) {
	return db.Change(ctx, a.DB, func(ctx context.Context, tx *db.Tx) (*ResponseResult, error) {
		s, err := lockForChange(ctx, tx, caller, id.task)
		if err != nil {
			return nil, err
		}
		if !s.Visible {
			return nil, fault.New(fault.NotFound)
		}
		found, err := db.One[candidate](ctx, tx.SQL, named("select_response"), id.task, id.response)
		if err != nil {
			return nil, err
		}
		if err := s.requireAuthor(&found.responseRow); err != nil {
			return nil, err
		}
		if err := change(ctx, tx, s, &found.responseRow); err != nil {
			return nil, err
		}
		return &ResponseResult{Response: found.card()}, nil
	})
}

// requireAuthor returns forbidden for the task's customer, who sees all but withdrawn responses, and not_found for anyone else
// but the response's author.
func (s *snapshot) requireAuthor(r *responseRow) error {
	switch {
	case s.CallerID == r.By.ID:
		return nil
	case s.isCustomer() && r.State != string(response.StateWithdrawn):
		return fault.New(fault.Forbidden)
	default:
		return fault.New(fault.NotFound)
	}
}

// requireOpen returns state_conflict unless a response and its task are open.
func requireOpen(s *snapshot, r *responseRow) error {
	if s.State != string(task.StateOpen) || r.State != string(response.StateOpen) {
		return fault.New(fault.StateConflict).Say("The task is " + s.State + " and the response " + r.State + "; both must be open.")
	}
	return nil
}
