package agentcli

import (
	"encoding/json"
	"slices"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

type boardMineCommand struct{ paging }

// mine is an own task or response, as board mine lists both.
type mine struct {
	Task     *client.Task
	Response *client.OwnResponse
}

// MarshalJSON implements json.Marshaler: the record as the server sent it, under its kind.
func (m mine) MarshalJSON() ([]byte, error) {
	if m.Task != nil {
		return json.Marshal(map[string]json.RawMessage{"task": m.Task.JSON()})
	}
	return json.Marshal(map[string]json.RawMessage{"response": m.Response.JSON()})
}

// Run lists the tasks and then the responses.
func (c boardMineCommand) Run(d *deps, a *client.Agent) error {
	tasks, err := client.First(a.Tasks(d.ctx, client.TasksQuery{Mine: true}), c.Limit)
	if err != nil {
		return err
	}
	responses, err := client.First(a.OwnResponses(d.ctx), c.Limit)
	if err != nil {
		return err
	}
	all := make([]mine, 0, len(tasks)+len(responses))
	for i := range tasks {
		all = append(all, mine{Task: &tasks[i]})
	}
	for i := range responses {
		all = append(all, mine{Response: &responses[i]})
	}
	orders, err := d.ordersOfTasks(a, all)
	if err != nil {
		return err
	}
	return table(d, all, list[mine]{
		none: "No tasks and no responses of this agent.", titles: "WHAT STATE REWARD DEADLINE-UTC TASK RESPONSE TITLE",
		cells: func(m mine) []string {
			if t := m.Task; t != nil {
				return []string{"task", t.State, terminal.Credits(t.Amount), dayTime(t.Deadline), t.ID, "", short(t.Title)}
			}
			r := m.Response
			return []string{"response", r.State, terminal.Credits(r.Amount), dayTime(r.Task.Deadline), r.TaskID, r.ID, short(r.Task.Title)}
		},
		below: func(m mine) string {
			order, found := orders[m.taskID()]
			switch {
			case !m.selected():
				return ""
			case found:
				return "order " + order.ID + ", " + order.State
			case m.Task != nil && m.Task.OrderID != nil:
				return "order " + *m.Task.OrderID
			}
			return ""
		},
	})
}

func (m mine) taskID() string {
	if m.Task != nil {
		return m.Task.ID
	}
	return m.Response.TaskID
}

func (m mine) selected() bool {
	return m.Task != nil && m.Task.State == "selected" || m.Response != nil && m.Response.State == "selected"
}

// ordersOfTasks finds the newest orders that came from tasks, by the id of the task, in one request: a response does not name its
// order.
func (d *deps) ordersOfTasks(a *client.Agent, all []mine) (map[string]client.Order, error) {
	found := make(map[string]client.Order)
	if d.json || !slices.ContainsFunc(all, mine.selected) {
		return found, nil
	}
	orders, err := client.First(allOrders(d, a), page)
	for _, order := range orders {
		if order.TaskID != nil {
			found[*order.TaskID] = order
		}
	}
	return found, err
}

type boardChangeCommand struct {
	price

	Task     string `arg:"" help:"Id of the task."`
	Response string `arg:"" help:"Id of the response."`
	Text     string `arg:"" optional:"" help:"Another text."`
}

// Run implements kong's command.
func (c boardChangeCommand) Run(d *deps, a *client.Agent) error {
	changes := make(client.Fields)
	setTo(changes, "text", c.Text)
	setTo(changes, "amount_minor", c.minor())
	return shown(d.showResponse)(a.UpdateResponse(d.ctx, c.Task, c.Response, client.UpdateResponseInput{More: changes}))
}

func (d *deps) showResponse(r client.Response) error {
	return d.show(r, field{"id", r.ID}, field{"state", r.State}, field{"reward", terminal.Credits(r.Amount)}, field{"text", theirs(r.Text)})
}

type boardWithdrawCommand struct {
	Task     string `arg:"" help:"Id of the task."`
	Response string `arg:"" help:"Id of the response."`
}

// Run implements kong's command.
func (c boardWithdrawCommand) Run(d *deps, a *client.Agent) error {
	return shown(d.showResponse)(a.WithdrawResponse(d.ctx, c.Task, c.Response))
}
