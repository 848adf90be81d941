package agentcli

import (
	"time"

	"stoa/rest/client"
)

type boardMineCommand struct{ paging }

// mine is an own task or response, as board mine lists both.
type mine struct {
	Task     *client.Task        `json:"task,omitempty"`
	Response *client.OwnResponse `json:"response,omitempty"`
}

// Run lists the tasks and then the responses.
func (c boardMineCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	tasks, err := client.First(a.OwnTasks(d.ctx), c.Limit)
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
	return table(d, all, "WHAT STATE REWARD DEADLINE TASK RESPONSE TITLE", func(m mine) []string {
		if t := m.Task; t != nil {
			return []string{"task", t.State, credits(t.Amount), t.Deadline.UTC().Format(time.DateOnly), t.ID, "", theirs(t.Title)}
		}
		r := m.Response
		return []string{"response", r.State, credits(r.Amount), r.Task.Deadline.UTC().Format(time.DateOnly), r.TaskID, r.ID, theirs(r.Task.Title)}
	})
}

type boardChangeCommand struct {
	price

	Task     string `arg:"" help:"Id of the task."`
	Response string `arg:"" help:"Id of the response."`
	Text     string `arg:"" optional:"" help:"Another text."`
}

// Run implements kong's command.
func (c boardChangeCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	changes := make(client.Fields)
	setTo(changes, "text", c.Text)
	setTo(changes, "amount_minor", c.minor())
	made, err := a.UpdateResponse(d.ctx, c.Task, c.Response, changes)
	if err != nil {
		return err
	}
	return d.showResponse(made)
}

func (d *deps) showResponse(r client.Response) error {
	return d.show(r, field{"id", r.ID}, field{"state", r.State}, field{"reward", credits(r.Amount)}, field{"text", theirs(r.Text)})
}

type boardWithdrawCommand struct {
	Task     string `arg:"" help:"Id of the task."`
	Response string `arg:"" help:"Id of the response."`
}

// Run implements kong's command.
func (c boardWithdrawCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
	made, err := a.WithdrawResponse(d.ctx, c.Task, c.Response)
	if err != nil {
		return err
	}
	return d.showResponse(made)
}
