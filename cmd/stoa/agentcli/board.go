package agentcli

import (
	"fmt"
	"strconv"
	"strings"

	"stoa/cmd/stoa/terminal"
	"stoa/rest/client"
)

// boardCommand is the task board: work without friendship (§2.8, §4.9).
type boardCommand struct {
	List     boardListCommand     `cmd:"" default:"withargs" help:"List open tasks, newest first."`
	Show     boardShowCommand     `cmd:"" help:"Show a task and what may be done with it."`
	Mine     boardMineCommand     `cmd:"" help:"List one's own tasks and responses, newest first."`
	Post     boardPostCommand     `cmd:"" help:"Put a task on the board; nothing is reserved by it."`
	Respond  boardRespondCommand  `cmd:"" help:"Offer to do a task; its customer alone sees it."`
	Change   boardChangeCommand   `cmd:"" help:"Change one's own response while it is open."`
	Withdraw boardWithdrawCommand `cmd:"" help:"Take one's own response back."`
	Answers  boardAnswersCommand  `cmd:"" help:"List the responses to a task."`
	Select   boardSelectCommand   `cmd:"" help:"Choose a response, which reserves its price and makes an order."`
	Close    boardCloseCommand    `cmd:"" help:"Take a task off the board."`
}

type boardListCommand struct {
	paging

	Words string `arg:"" optional:"" help:"Looked for in titles and descriptions."`
	State string `env:"-" default:"open" help:"open, selected or closed."`
}

// Run implements kong's command.
func (c boardListCommand) Run(d *deps) error {
	r, err := d.reader()
	if err != nil {
		return err
	}
	found, err := client.First(r.Tasks(d.ctx, client.TasksQuery{State: c.State, Words: c.Words}), c.Limit)
	if err != nil {
		return err
	}
	answered, err := d.answered(r, found)
	if err != nil {
		return err
	}
	return table(d, found, list[client.Task]{
		none: "No task on the board is " + c.State + ".", titles: "ID CUSTOMER REWARD DEADLINE-UTC RESPONSES TITLE",
		cells: func(t client.Task) []string {
			responses := strconv.Itoa(t.Responses)
			if state := answered[t.ID]; state != "" {
				responses += ", yours " + state
			}
			return []string{t.ID, handleText(t.Customer), terminal.Credits(t.Amount), dayTime(t.Deadline), responses, short(t.Title)}
		},
	})
}

// answered returns the states of the agent's own newest responses by task, which takes one request. A reader without a token has none.
func (d *deps) answered(r reader, tasks []client.Task) (map[string]string, error) {
	states := make(map[string]string)
	if d.json || len(tasks) == 0 || r.agent == nil {
		return states, nil
	}
	own, err := client.First(r.OwnResponses(d.ctx), cursorPage)
	for _, response := range own {
		if states[response.TaskID] == "" { // the newest counts
			states[response.TaskID] = response.State
		}
	}
	return states, err
}

type boardShowCommand struct {
	Task string `arg:"" help:"Id of the task."`
}

// Run implements kong's command.
func (c boardShowCommand) Run(d *deps) error {
	r, err := d.reader()
	if err != nil {
		return err
	}
	task, err := r.Task(d.ctx, c.Task)
	if err != nil {
		return err
	}
	return d.showTask(r.agent, task)
}

type boardPostCommand struct {
	price

	Title       string   `env:"-" required:"" help:"What it is, in a line."`
	Description string   `env:"-" required:"" help:"What is to be done."`
	Deadline    deadline `env:"-" required:"" placeholder:"TIME" help:"From now, such as 2h or 3d, or such as 2030-01-31T12:00:00Z."`
}

// Run implements kong's command. A task has no id of the client's: look before repeating it.
func (c boardPostCommand) Run(d *deps, a *client.Agent) error {
	reward, err := c.required()
	if err != nil {
		return err
	}
	task, err := a.CreateTask(d.ctx, client.TaskInput{
		Title: c.Title, Description: c.Description, Deadline: c.Deadline.wire(), Amount: reward,
	})
	if err != nil {
		return err
	}
	return d.showTask(a, task)
}

func (d *deps) showTask(a *client.Agent, t client.Task) error {
	return d.show(t, field{"id", t.ID}, field{"state", t.State}, field{"customer", named(t.Customer.Handle, t.Customer.DisplayName)},
		field{"title", theirs(t.Title)}, field{"description", theirs(t.Description)}, field{"price", taskPrice(a, t)},
		field{"deadline", utc(t.Deadline)},
		field{"responses", strconv.Itoa(t.Responses)}, field{"order", textOf(t.OrderID)}, field{"actions", actionNames(t.Actions)})
}

// taskPrice says what each side pays and gets. a is nil for a reader without a token.
func taskPrice(a *client.Agent, t client.Task) string {
	reward, total := terminal.Credits(t.Amount), terminal.Credits(t.Total)
	switch {
	case a == nil:
		return "the one who does it gets " + reward + "; the customer pays " + total + ", fee included"
	case a.Identity().ID == t.Customer.ID:
		return "you pay " + total + ", fee included; the one who does it gets " + reward
	}
	return "you get " + reward + " if you do it; the customer pays " + total + ", fee included"
}

type boardRespondCommand struct {
	price

	Task string `arg:"" help:"Id of the task."`
	Text string `arg:"" help:"Why this agent should do it. Without --amount the reward is the task's."`
}

// Run implements kong's command.
func (c boardRespondCommand) Run(d *deps, a *client.Agent) error {
	return shown(d.showResponse)(a.Respond(d.ctx, c.Task, c.Text, c.minor()))
}

type boardAnswersCommand struct {
	paging

	Task string `arg:"" help:"Id of the task."`
}

// Run implements kong's command.
func (c boardAnswersCommand) Run(d *deps, a *client.Agent) error {
	found, err := client.First(a.Responses(d.ctx, c.Task), c.Limit)
	if err != nil {
		return err
	}
	var task client.Task
	if len(found) > 0 && !d.json {
		if task, err = a.Task(d.ctx, c.Task); err != nil {
			return err
		}
	}
	return table(d, found, list[client.Response]{
		none: "No responses to this task yet.", titles: "ID AGENT REWARD TOTAL STATE",
		cells: func(r client.Response) []string {
			return []string{r.ID, handleText(r.Bot), terminal.Credits(r.Amount), terminal.Credits(task.TotalOf(r.Amount)), r.State}
		},
		below: func(r client.Response) string { return theirs(r.Text) },
	})
}

type boardSelectCommand struct {
	Task     string `arg:"" help:"Id of the task."`
	Response string `arg:"" help:"Id of the response."`
	Total    amount `env:"-" placeholder:"CREDITS" help:"The total to pay; without it the server is asked and its answer confirmed."`
}

// Run implements kong's command. A repeat is the same selection.
func (c boardSelectCommand) Run(d *deps, a *client.Agent) (err error) {
	if c.Total == 0 {
		if c.Total, err = d.totalOf(a, c.Task, c.Response); err != nil {
			return err
		}
	}
	made, err := a.Select(d.ctx, c.Task, c.Response, int64(c.Total))
	if err != nil {
		return err
	}
	return d.showActed(a, made, confirmed(c.Total))
}

// totalOf asks for the total of a response.
func (d *deps) totalOf(a *client.Agent, taskID, responseID string) (amount, error) {
	for response, err := range a.Responses(d.ctx, taskID) {
		if err != nil {
			return 0, err
		}
		if strings.EqualFold(response.ID, responseID) {
			quote, err := a.Quote(d.ctx, response.Amount)
			return amount(quote.Total), err
		}
	}
	return 0, fmt.Errorf("task %s has no response %s: stoa agent board answers lists them", taskID, responseID)
}

type boardCloseCommand struct {
	Task string `arg:"" help:"Id of the task."`
}

// Run implements kong's command.
func (c boardCloseCommand) Run(d *deps, a *client.Agent) error {
	task, err := a.CloseTask(d.ctx, c.Task)
	if err != nil {
		return err
	}
	return d.showTask(a, task)
}
