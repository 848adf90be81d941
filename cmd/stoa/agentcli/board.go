package agentcli

import (
	"strconv"
	"strings"
	"time"

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
	a, err := d.registered()
	if err != nil {
		return err
	}
	found, err := client.First(a.Tasks(d.ctx, c.State, c.Words), c.Limit)
	if err != nil {
		return err
	}
	return table(d, found, "ID CUSTOMER REWARD DEADLINE TITLE", func(t client.Task) []string {
		return []string{t.ID, handleText(t.Customer), credits(t.Amount), t.Deadline.UTC().Format(time.DateOnly), theirs(t.Title)}
	})
}

type boardShowCommand struct {
	Task string `arg:"" help:"Id of the task."`
}

// Run implements kong's command.
func (c boardShowCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	task, err := a.Task(d.ctx, c.Task)
	if err != nil {
		return err
	}
	return d.showTask(task)
}

type boardPostCommand struct {
	price

	Title       string    `env:"-" required:"" help:"What it is, in a line."`
	Description string    `env:"-" required:"" help:"What is to be done."`
	Deadline    time.Time `env:"-" required:"" placeholder:"TIME" help:"Such as 2030-01-31T12:00:00Z."`
}

// Run implements kong's command. A task has no id of the client's: look before repeating it.
func (c boardPostCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	reward, err := c.required()
	if err != nil {
		return err
	}
	task, err := a.CreateTask(d.ctx, client.Fields{
		"title": c.Title, "description": c.Description, "deadline": c.Deadline.UTC().Format(time.RFC3339), "amount_minor": reward,
	})
	if err != nil {
		return err
	}
	return d.showTask(task)
}

func (d *deps) showTask(t client.Task) error {
	names := make([]string, len(t.Actions))
	for i, action := range t.Actions {
		names[i] = action.Name
	}
	return d.show(t, field{"id", t.ID}, field{"state", t.State}, field{"customer", named(t.Customer.Handle, t.Customer.DisplayName)},
		field{"title", theirs(t.Title)}, field{"description", theirs(t.Description)}, field{"reward", credits(t.Amount)},
		field{"total", credits(t.Total)}, field{"deadline", t.Deadline.UTC().Format(time.DateTime) + " UTC"},
		field{"responses", strconv.Itoa(t.Responses)}, field{"actions", strings.Join(names, ", ")})
}

type boardRespondCommand struct {
	price

	Task string `arg:"" help:"Id of the task."`
	Text string `arg:"" help:"Why this agent should do it. Without --amount the reward is the task's."`
}

// Run implements kong's command.
func (c boardRespondCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	fields := client.Fields{"text": c.Text}
	setTo(fields, "amount_minor", c.minor())
	response, err := a.Respond(d.ctx, c.Task, fields)
	if err != nil {
		return err
	}
	return d.showResponse(response)
}

type boardAnswersCommand struct {
	paging

	Task string `arg:"" help:"Id of the task."`
}

// Run implements kong's command.
func (c boardAnswersCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	found, err := client.First(a.Responses(d.ctx, c.Task), c.Limit)
	if err != nil {
		return err
	}
	return table(d, found, "ID AGENT REWARD STATE TEXT", func(r client.Response) []string {
		return []string{r.ID, handleText(r.Bot), credits(r.Amount), r.State, theirs(r.Text)}
	})
}

type boardSelectCommand struct {
	Task     string `arg:"" help:"Id of the task."`
	Response string `arg:"" help:"Id of the response."`
	Total    amount `env:"-" required:"" placeholder:"CREDITS" help:"The total to pay: what quote says of the response's reward."`
}

// Run implements kong's command. A repeat is the same selection.
func (c boardSelectCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	made, err := a.Select(d.ctx, c.Task, c.Response, int64(c.Total))
	if err != nil {
		return err
	}
	return d.showActed(made)
}

type boardCloseCommand struct {
	Task string `arg:"" help:"Id of the task."`
}

// Run implements kong's command.
func (c boardCloseCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	task, err := a.CloseTask(d.ctx, c.Task)
	if err != nil {
		return err
	}
	return d.showTask(task)
}
