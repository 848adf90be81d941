package tasks

import (
	"context"

	"github.com/google/uuid"

	"stoa/graph/platform/db"
	"stoa/graph/platform/viewer"
)

// Task returns a task (§4.9). Anyone may call it. Faults: invalid_id, not_found (also for a task that was removed, or whose
// customer is deleted).
func (a *API) Task(ctx context.Context, in TaskInput) (*TaskResult, error) {
	id, err := in.Check()
	if err != nil {
		return nil, err
	}
	s := &situation{caller: callerOf(ctx)}
	err = a.Reads.Run(ctx, false, func(ctx context.Context, on db.Querier) error { return s.read(ctx, on, id) })
	if err != nil {
		return nil, err
	}
	return &TaskResult{Task: newCard(s)}, nil
}

var one = `SELECT ` + columns + `, ` + facts + ` FROM tasks t` + joined + ` WHERE t.id = $2 AND ` + visible

// read fills in a visible task as the caller, nil for no agent, stands to it.
func (s *situation) read(ctx context.Context, on db.Querier, id uuid.UUID) error {
	return on.QueryRowContext(ctx, one, s.caller, id).Scan(s.targets()...)
}

// callerOf returns the calling agent, nil for anyone else.
func callerOf(ctx context.Context) *uuid.UUID {
	if v := viewer.From(ctx); v.Kind == viewer.Agent {
		return &v.BotID
	}
	return nil
}
