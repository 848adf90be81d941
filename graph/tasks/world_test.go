package tasks_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"stoa/graph/contacts"
	"stoa/graph/events"
	"stoa/graph/graphtest"
	"stoa/graph/orders"
	"stoa/graph/platform/db"
	"stoa/graph/tasks"
)

// The reward of a test task; at 10 % the customer pays 1100.
const (
	amount int64 = 1000
	total  int64 = 1100
)

var ptr = graphtest.Ptr[string]

// world has a customer and a responder who do not know each other.
type world struct {
	*graphtest.World
	t                   testing.TB
	customer, responder *graphtest.Agent
}

func newWorld(t testing.TB, options ...graphtest.Option) *world {
	t.Helper()
	w := graphtest.New(t, options...)
	return &world{w, t, w.Agent(), w.Agent()}
}

// task puts a task of the customer on the board.
func (w *world) task() *tasks.Card {
	return w.Tasked(w.customer, "A sonnet", "Fourteen lines.", amount)
}

// newTask returns a world with a task of its customer.
func newTask(t *testing.T) (*world, *tasks.Card) {
	t.Helper()
	w := newWorld(t)
	return w, w.task()
}

// answer returns the body of a response.
func answer(task *tasks.Card, text string) tasks.RespondInput {
	return tasks.RespondInput{TaskID: task.ID.String(), Text: &text}
}

// choice returns the body of a selection of a response that asks for the task's reward.
func choice(task *tasks.Card, response *tasks.ResponseCard) tasks.SelectInput {
	return tasks.SelectInput{
		TaskID: task.ID.String(), OperationID: ptr(uuid.NewString()), ResponseID: ptr(response.ID.String()), ConfirmedTotalMinor: &task.TotalMinor,
	}
}

func naming(task *tasks.Card) tasks.TaskInput { return tasks.TaskInput{TaskID: task.ID.String()} }

func namingResponse(r *tasks.ResponseCard) tasks.ResponseInput {
	return tasks.ResponseInput{TaskID: r.TaskID.String(), ResponseID: r.ID.String()}
}

// changing returns the body of a change of a response's text.
func changing(r *tasks.ResponseCard, text string) tasks.UpdateResponseInput {
	return tasks.UpdateResponseInput{TaskID: r.TaskID.String(), ResponseID: r.ID.String(), Text: &text}
}

// own lists an agent's own responses on the first page.
func (w *world) own(by *graphtest.Agent) []*tasks.OwnResponseCard {
	return graphtest.Got(w.Tasks.ListOwnResponses(by.Ctx, tasks.OwnResponsesInput{}))(w.t).Responses
}

// ownStates returns the states of an agent's responses, each after the state of its task.
func (w *world) ownStates(by *graphtest.Agent) []string {
	states := []string{}
	for _, r := range w.own(by) {
		states = append(states, r.Task.State+" "+r.State)
	}
	return states
}

// payloads returns the payloads of an agent's unacknowledged events of one kind, in the order of delivery.
func (w *world) payloads(agent *graphtest.Agent, kind events.Kind) []string {
	payloads := []string{}
	page := graphtest.Got(w.Events.PollEvents(agent.Ctx, events.PollInput{Version: []string{"2"}, Limit: []string{"100"}}))(w.t)
	for _, e := range page.Events {
		if e.Kind == string(kind) {
			payloads = append(payloads, string(e.Payload))
		}
	}
	return payloads
}

// blocked makes one agent block another.
func (w *world) blocked(by, of *graphtest.Agent) {
	graphtest.OK(w.t)(w.Contacts.BlockBot(by.Ctx, contacts.BlockInput{BotID: ptr(of.ID.String())}))
}

// see reads a task as the caller of a context.
func (w *world) see(ctx context.Context, task *tasks.Card) *tasks.Card {
	return graphtest.Got(w.Tasks.Task(ctx, naming(task)))(w.t).Task
}

// responses lists the responses to a task that an agent sees, on the first page.
func (w *world) responses(by *graphtest.Agent, task *tasks.Card) []*tasks.ResponseCard {
	return graphtest.Got(w.Tasks.TaskResponses(by.Ctx, tasks.TaskResponsesInput{TaskID: task.ID.String()}))(w.t).Responses
}

// remove removes a task from the board like an operator.
func (w *world) remove(id uuid.UUID) error {
	return w.DB.Tx(w.t.Context(), func(ctx context.Context, tx *db.Tx) error { return w.Tasks.Remove(ctx, tx, id) })
}

// balances of an agent: available and reserved.
func (w *world) balances(of *graphtest.Agent) [2]int64 {
	own := graphtest.Got(w.Wallet.MyWallet(of.Ctx))(w.t)
	return [2]int64{own.Wallet.AvailableMinor, own.Wallet.ReservedMinor}
}

// reconciled requires books without a discrepancy.
func (w *world) reconciled() {
	require.Empty(w.t, graphtest.Got(w.Wallet.Reconcile(w.t.Context()))(w.t))
}

// names of the actions that a card offers.
func names(card *tasks.Card) []string {
	all := []string{}
	for _, a := range card.Actions {
		all = append(all, a.Name)
	}
	return all
}

// act takes a valid step of an order.
func (w *world) act(by *graphtest.Agent, card *orders.Card, action orders.Action) *orders.Card {
	in := orders.ActInput{
		OrderID: card.ID.String(), Action: action, OperationID: ptr(uuid.NewString()), ExpectedVersion: graphtest.Ptr(int64(card.Version)),
	}
	switch action {
	case orders.Deliver:
		in.ResultText = ptr("Shall I compare thee …")
	case orders.ProposeRefund:
		in.Reason = ptr("It does not scan.")
	}
	return graphtest.Got(w.Orders.OrderAct(by.Ctx, in))(w.t).Order
}

// anonymous is the context of a caller without a token.
func anonymous() context.Context { return context.Background() }
