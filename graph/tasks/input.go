package tasks

import (
	"github.com/google/uuid"

	"stoa/ent/task"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/input"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
)

// own is the only value of the parameter mine.
const own = "true"

// TaskInput names a task in the path; its body, if the operation reads one, has no fields.
type TaskInput struct {
	TaskID string `json:"-" path:"task_id"`
}

// Check returns invalid_id for a malformed id.
func (in TaskInput) Check() (uuid.UUID, error) { return input.ID("task_id", in.TaskID) }

// CreateTaskInput is the body of a new task. A nil field was not sent.
type CreateTaskInput struct {
	Title       *string `json:"title"`
	Description *string `json:"description"`
	Deadline    *string `json:"deadline"`
	AmountMinor *int64  `json:"amount_minor"`
}

// Check returns the fields of the card, or invalid_input naming every field that is wrong. The database clock decides whether the
// deadline lies ahead.
func (in CreateTaskInput) Check() (Card, error) {
	f := input.New()
	return Card{
		Title:       f.Line("title", in.Title, 1, bounds.Title),
		Description: f.Text("description", in.Description, 1, bounds.Text),
		Deadline:    f.Time("deadline", in.Deadline),
		AmountMinor: f.Count("amount_minor", in.AmountMinor),
	}, f.Fault(fault.InvalidInput)
}

// RespondInput is a response to a task: the path and its body. A nil field was not sent; the reward is the task's then.
type RespondInput struct {
	TaskID      string  `json:"-" path:"task_id"`
	Text        *string `json:"text"`
	AmountMinor *int64  `json:"amount_minor"`
}

// Check returns invalid_id for a malformed task id, or invalid_input naming every field that is wrong.
func (in RespondInput) Check() (uuid.UUID, error) {
	id, err := input.ID("task_id", in.TaskID)
	if err != nil {
		return id, err
	}
	f := input.New()
	f.Text("text", in.Text, 1, bounds.LongText)
	if in.AmountMinor != nil {
		f.Count("amount_minor", in.AmountMinor)
	}
	return id, f.Fault(fault.InvalidInput)
}

// ResponseInput names a response in the path.
type ResponseInput struct {
	TaskID     string `json:"-" path:"task_id"`
	ResponseID string `json:"-" path:"response_id"`
}

// responseID names a response and its task.
type responseID struct{ task, response uuid.UUID }

// Check returns invalid_id for a malformed id.
func (in ResponseInput) Check() (id responseID, err error) {
	if id.task, err = input.ID("task_id", in.TaskID); err == nil {
		id.response, err = input.ID("response_id", in.ResponseID)
	}
	return id, err
}

// UpdateResponseInput changes a response: the path and its body. A nil field was not sent and stays unchanged.
type UpdateResponseInput struct {
	TaskID      string  `json:"-" path:"task_id"`
	ResponseID  string  `json:"-" path:"response_id"`
	Text        *string `json:"text"`
	AmountMinor *int64  `json:"amount_minor"`
}

// Check returns invalid_id for a malformed id, or invalid_input if the body changes nothing, naming every field that is wrong.
func (in UpdateResponseInput) Check() (responseID, error) {
	id, err := ResponseInput{in.TaskID, in.ResponseID}.Check()
	if err != nil {
		return id, err
	}
	if in.Text == nil && in.AmountMinor == nil {
		return id, input.NoChange(fault.InvalidInput)
	}
	f := input.New()
	if in.Text != nil {
		f.Text("text", in.Text, 1, bounds.LongText)
	}
	if in.AmountMinor != nil {
		f.Count("amount_minor", in.AmountMinor)
	}
	return id, f.Fault(fault.InvalidInput)
}

// SelectInput chooses a response: the path and its body. A nil field was not sent.
type SelectInput struct {
	TaskID              string  `json:"-" path:"task_id"`
	OperationID         *string `json:"operation_id,omitzero"`
	ResponseID          *string `json:"response_id,omitzero"`
	ConfirmedTotalMinor *int64  `json:"confirmed_total_minor,omitzero"`
}

// choice is a checked SelectInput.
type choice struct {
	taskID, operationID, responseID uuid.UUID
	confirmedTotal                  int64
}

// Check returns invalid_id for a malformed task id, or invalid_input naming every field that is wrong.
func (in SelectInput) Check() (choice, error) {
	id, err := input.ID("task_id", in.TaskID)
	if err != nil {
		return choice{}, err
	}
	f := input.New()
	return choice{
		taskID:         id,
		operationID:    f.ID("operation_id", in.OperationID),
		responseID:     f.ID("response_id", in.ResponseID),
		confirmedTotal: input.Require(f, "confirmed_total_minor", in.ConfirmedTotalMinor),
	}, f.Fault(fault.InvalidInput)
}

// TaskBoardInput is the query of the board: `page` 1 to 1000, `page_size` 1 to 50, `state`, open unless sent, and `q`. With
// `mine` true it lists the caller's own tasks, in every state unless `state` is sent.
type TaskBoardInput struct {
	Page     page.Param `json:"-" query:"page"`
	PageSize page.Param `json:"-" query:"page_size"`
	State    page.Param `json:"-" query:"state"`
	Q        page.Param `json:"-" query:"q"`
	Mine     page.Param `json:"-" query:"mine"`
}

// filter is a checked TaskBoardInput. An empty q and a nil state filter nothing.
type filter struct {
	n     page.Number
	state *task.State
	q     string
	mine  bool
}

// Check returns invalid_pagination, invalid_input for an unknown state or another mine than true, or invalid_search.
func (in TaskBoardInput) Check() (filter, error) {
	n, err := page.Parse(in.Page, in.PageSize, page.Last)
	if err != nil {
		return filter{}, err
	}
	f := filter{n: n, mine: len(in.Mine) > 0}
	wrong := fault.Fields{}
	if f.mine && (len(in.Mine) > 1 || in.Mine[0] != own) {
		wrong["mine"] = "must be true, sent once, or left out"
	}
	switch {
	case len(in.State) > 0:
		f.state = new(task.State(in.State[0]))
		if len(in.State) > 1 || task.StateValidator(*f.state) != nil {
			wrong["state"] = "must be open, selected or closed, sent once"
		}
	case !f.mine:
		f.state = new(task.StateOpen)
	}
	if err := wrong.Fault(fault.InvalidInput); err != nil {
		return filter{}, err
	}
	f.q = search.Text(wrong, "q", in.Q)
	return f, wrong.Fault(fault.InvalidSearch)
}

// TaskResponsesInput names a task and a page of the responses to it.
type TaskResponsesInput struct {
	TaskID string `json:"-" path:"task_id"`
	// Before is the last response of the previous page.
	Before page.Param `json:"-" query:"before"`
}

// Check returns invalid_id for a malformed task id or before.
func (in TaskResponsesInput) Check() (input.List, error) {
	return input.ListOf("task_id", in.TaskID, in.Before)
}

// OwnResponsesInput is a page of the caller's own responses.
type OwnResponsesInput struct {
	// Before is the last response of the previous page.
	Before page.Param `json:"-" query:"before"`
}

// Check returns invalid_id for a malformed before.
func (in OwnResponsesInput) Check() (before *uuid.UUID, err error) {
	return page.ID("before", in.Before)
}
