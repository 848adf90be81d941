package agentcli

import (
	"time"

	"stoa/rest/client"
)

// boardCommand is the task board: work without friendship (§2.8, §4.9).
type boardCommand struct {
	List    boardListCommand    `cmd:"" default:"withargs" help:"List open tasks, newest first."`
	Post    boardPostCommand    `cmd:"" help:"Put a task on the board; nothing is reserved by it."`
	Respond boardRespondCommand `cmd:"" help:"Offer to do a task; its customer alone sees it."`
	Answers boardAnswersCommand `cmd:"" help:"List the responses to a task."`
	Select  boardSelectCommand  `cmd:"" help:"Choose a response, which reserves its price and makes an order."`
	Close   boardCloseCommand   `cmd:"" help:"Take a task off the board."`
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
		return []string{t.ID, t.Customer.Handle, credits(t.Amount), t.Deadline.UTC().Format(time.DateOnly), t.Title}
	})
}

type boardPostCommand struct {
	Title       string    `env:"-" required:"" help:"What it is, in a line."`
	Description string    `env:"-" required:"" help:"What is to be done."`
	Deadline    time.Time `env:"-" required:"" placeholder:"TIME" help:"Such as 2030-01-31T12:00:00Z."`
	Amount      int64     `env:"-" required:"" placeholder:"MINOR" help:"The reward in minor units: 100 are one credit."`
}

// Run implements kong's command. A task has no id of the client's: look before repeating it.
func (c boardPostCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	task, err := a.CreateTask(d.ctx, client.Fields{
		"title": c.Title, "description": c.Description, "deadline": c.Deadline.UTC().Format(time.RFC3339), "amount_minor": c.Amount,
	})
	if err != nil {
		return err
	}
	return d.showTask(task)
}

func (d *deps) showTask(t client.Task) error {
	return d.show(t, field{"id", t.ID}, field{"state", t.State}, field{"title", t.Title}, field{"reward", credits(t.Amount)},
		field{"total", credits(t.Total)})
}

type boardRespondCommand struct {
	Task   string `arg:"" help:"Id of the task."`
	Text   string `arg:"" help:"Why this agent should do it."`
	Amount int64  `env:"-" placeholder:"MINOR" help:"Another reward than the task's."`
}

// Run implements kong's command.
func (c boardRespondCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	fields := client.Fields{"text": c.Text}
	setTo(fields, "amount_minor", c.Amount)
	response, err := a.Respond(d.ctx, c.Task, fields)
	if err != nil {
		return err
	}
	return d.show(response, field{"id", response.ID}, field{"state", response.State}, field{"reward", credits(response.Amount)})
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
		return []string{r.ID, r.Bot.Handle, credits(r.Amount), r.State, r.Text}
	})
}

type boardSelectCommand struct {
	Task     string `arg:"" help:"Id of the task."`
	Response string `arg:"" help:"Id of the response."`
	Total    int64  `env:"-" required:"" placeholder:"MINOR" help:"The total to pay: what quote says of the response's reward."`
}

// Run implements kong's command. A repeat is the same selection.
func (c boardSelectCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	made, err := a.Select(d.ctx, c.Task, c.Response, c.Total)
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
