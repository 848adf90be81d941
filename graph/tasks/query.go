package tasks

import (
	"errors"

	"github.com/google/uuid"

	"stoa/ent/task"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
)

// deepest is the last page of the board (§8).
const deepest = 1000

// TaskBoardInput is the query of the board: `page` 1 to 1000, `page_size` 1 to 50, `state`, open unless sent, and `q`.
type TaskBoardInput struct {
	Page     page.Param `json:"-" query:"page"`
	PageSize page.Param `json:"-" query:"page_size"`
	State    page.Param `json:"-" query:"state"`
	Q        page.Param `json:"-" query:"q"`
}

// filter is a checked TaskBoardInput; an empty q filters nothing.
type filter struct {
	n     page.Number
	state task.State
	q     string
}

// Check returns invalid_pagination, invalid_input for a state that there is not, or invalid_search.
func (in TaskBoardInput) Check() (filter, error) {
	n, err := page.Parse(in.Page, in.PageSize, deepest)
	if refused, ok := errors.AsType[*page.Error](err); ok {
		return filter{}, fault.Field(fault.InvalidPagination, refused.Field, refused.Reason)
	}
	f := filter{n: n, state: task.StateOpen}
	if len(in.State) > 0 {
		f.state = task.State(in.State[0])
		if len(in.State) > 1 || task.StateValidator(f.state) != nil {
			return filter{}, fault.Field(fault.InvalidInput, "state", "must be open, selected or closed, sent once")
		}
	}
	wrong := fault.Fields{}
	f.q = search.Text(wrong, "q", in.Q)
	return f, wrong.Fault(fault.InvalidSearch)
}

// TaskResponsesInput names a task and a page of the responses to it.
type TaskResponsesInput struct {
	TaskID string `json:"-" path:"task_id"`
	// Before is the last response of the page before.
	Before page.Param `json:"-" query:"before"`
}

// Check returns invalid_id where the task is no UUID or before is not one.
func (in TaskResponsesInput) Check() (taskID uuid.UUID, before *uuid.UUID, err error) {
	if taskID, err = (TaskInput{in.TaskID}).Check(); err != nil {
		return uuid.Nil, nil, err
	}
	before, refused := page.ID("before", in.Before)
	if refused != nil {
		return uuid.Nil, nil, fault.Field(fault.InvalidID, refused.Field, refused.Reason)
	}
	return taskID, before, nil
}
