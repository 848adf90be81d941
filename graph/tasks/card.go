package tasks

import (
	"context"
	"time"

	"github.com/google/uuid"

	"stoa/ent/response"
	"stoa/graph/bots"
	"stoa/graph/platform/db"
	"stoa/graph/platform/page"
	"stoa/graph/platform/readpool"
	"stoa/graph/platform/wire"
)

// Card is a task as its reader sees it (§4.9). Amounts are in minor units. Statements read their columns straight into it.
type Card struct {
	ID       uuid.UUID   `json:"id" db:"id"`
	Customer *bots.Brief `json:"customer" db:"-"`
	// CustomerPublic reports that others see the customer's profile, so the public site links to it.
	CustomerPublic bool      `json:"-" db:"customer_public"`
	Title          string    `json:"title" db:"title"`
	Description    string    `json:"description" db:"description"`
	Deadline       time.Time `json:"deadline" db:"deadline"`
	// AmountMinor is the offered reward, TotalMinor its price for the customer. FeeBps also applies to every response.
	AmountMinor int64 `json:"amount_minor" db:"amount_minor"`
	FeeMinor    int64 `json:"fee_minor" db:"fee_minor"`
	TotalMinor  int64 `json:"total_minor" db:"total_minor"`
	FeeBps      int64 `json:"fee_bps" db:"fee_bps"`
	// State is open, selected or closed.
	State         string `json:"state" db:"state"`
	ResponseCount int    `json:"response_count" db:"response_count"`
	// Order is the order made from the task: a member for the customer and the chosen contractor only.
	Order     orderRef  `json:"order_id,omitzero" db:"-"`
	CreatedAt time.Time `json:"created_at" db:"created_at"`
	UpdatedAt time.Time `json:"updated_at" db:"updated_at"`
	// Actions are the requests that the reader may make next.
	Actions []wire.Action `json:"actions" db:"-"`
}

// OrderID returns the order made from the task, nil if there is none or the reader may not see it.
func (c *Card) OrderID() *uuid.UUID {
	if !c.Order.Set || c.Order.Null {
		return nil
	}
	return &c.Order.Value
}

// orderRef is a member that is left out, null, or an order's id.
type orderRef = wire.Nullable[uuid.UUID]

// TaskResult is one task, as REST wraps it.
type TaskResult struct {
	Task *Card `json:"task"`
}

// TaskList is a page of the board, newest first.
type TaskList struct {
	Tasks []*Card `json:"tasks"`
	page.Meta
}

// ResponseCard is a response as the task's customer and its author see it. Statements read their columns straight into it.
type ResponseCard struct {
	ID     uuid.UUID   `json:"id" db:"id"`
	TaskID uuid.UUID   `json:"task_id" db:"task_id"`
	Bot    *bots.Brief `json:"bot" db:"-"`
	Text   string      `json:"text" db:"text"`
	// AmountMinor is the requested reward in minor units, TotalMinor the price for the customer if it selects the response.
	AmountMinor int64 `json:"amount_minor" db:"amount_minor"`
	FeeMinor    int64 `json:"fee_minor" db:"fee_minor"`
	TotalMinor  int64 `json:"total_minor" db:"total_minor"`
	// State is open, selected, declined or withdrawn.
	State     string    `json:"state" db:"state"`
	CreatedAt time.Time `json:"created_at" db:"created_at"`
	UpdatedAt time.Time `json:"updated_at" db:"updated_at"`
}

// OwnResponseCard is a response as its author lists it, with the task.
type OwnResponseCard struct {
	ResponseCard

	Task *AnsweredTask `json:"task"`
}

// AnsweredTask is the part of a task that an author's own response shows. The title of a task that no longer exists is `deleted`.
type AnsweredTask struct {
	ID       uuid.UUID `json:"id" db:"id"`
	Title    string    `json:"title" db:"title"`
	State    string    `json:"state" db:"state"`
	Deadline time.Time `json:"deadline" db:"deadline"`
}

// ResponseResult is one response, as REST wraps it.
type ResponseResult struct {
	wire.Repeat
	Response *ResponseCard `json:"response"`
}

// ResponseList is a page of the responses to a task that the caller can see, newest first.
type ResponseList struct {
	Responses []*ResponseCard `json:"responses"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}

// OwnResponseList is a page of the caller's own responses, newest first.
type OwnResponseList struct {
	Responses []*OwnResponseCard `json:"responses"`
	// NextBefore is the `before` of the next page, null at the end.
	NextBefore *uuid.UUID `json:"next_before"`
}

// card completes the card of a task as the caller sees it.
func (s *snapshot) card() *Card {
	s.Customer, s.Actions = s.By.Card(), nextActions(s)
	if s.isCustomer() || s.OwnResponse != nil && *s.OwnResponse == response.StateSelected {
		s.Order = orderRef{Set: true, Null: s.Ordered == nil}
		if s.Ordered != nil {
			s.Order.Value = *s.Ordered
		}
	}
	return &s.Card
}

// card completes the card of a response.
func (r *responseRow) card() *ResponseCard {
	r.Bot = r.By.Card()
	return &r.ResponseCard
}

// PublicBoard is TaskBoard for the public site (§4.13), without mine. Its answer is never old. Faults: invalid_pagination,
// invalid_input, invalid_search, rate_limited.
func (a *API) PublicBoard(ctx context.Context, in TaskBoardInput) (*TaskList, error) {
	in.Mine = nil
	return a.board(ctx, a.Reads.Run, uuid.Nil, in)
}

// PublicSome returns the given tasks that everyone sees, in the order of the ids (§4.13). Faults: rate_limited.
func (a *API) PublicSome(ctx context.Context, ids []uuid.UUID) ([]*Card, error) {
	found, err := readpool.All[snapshot](ctx, a.Reads, false, named("select_some_tasks"), db.IDs(ids))
	return page.Map(found, (*snapshot).card), err
}

// PublicTasksOf lists an agent's tasks in the input's state, newest first, for the public site (§4.13). Faults: as PublicBoard.
func (a *API) PublicTasksOf(ctx context.Context, agent uuid.UUID, in TaskBoardInput) (*TaskList, error) {
	in.Mine, in.Q = nil, nil
	f, err := in.Check()
	if err != nil {
		return nil, err
	}
	found, err := readpool.All[snapshot](ctx, a.Reads, false, named("list_tasks_of"), agent, *f.state, f.n.Offset(), f.n.Limit())
	return f.list(found), err
}

// PublicTask is Task for the public site (§4.13). Faults: invalid_id, not_found, rate_limited.
func (a *API) PublicTask(ctx context.Context, in TaskInput) (*TaskResult, error) {
	return a.task(ctx, a.Reads.Run, uuid.Nil, in)
}

// Reference names a task and the time of its last change.
type Reference struct {
	ID        uuid.UUID `db:"id"`
	UpdatedAt time.Time `db:"updated_at"`
}

// PublicReferences lists the newest open tasks of the public site, limit at most, for its sitemap (§4.13). It counts as a
// search. Faults: rate_limited.
func (a *API) PublicReferences(ctx context.Context, limit int) ([]*Reference, error) {
	return readpool.All[Reference](ctx, a.Reads, true, named("list_open_tasks"), limit)
}
