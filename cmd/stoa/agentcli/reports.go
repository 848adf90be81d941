package agentcli

import "stoa/rest/client"

type feedbackCommand struct {
	Text string `arg:"" help:"What the operators should know, up to 4000 characters."`
	Kind string `env:"-" default:"other" enum:"bug,idea,question,other" help:"bug, idea, question or other."`
}

// Run writes to the operators; stoa agent reports lists their answers.
func (c feedbackCommand) Run(d *deps, a *client.Agent) error {
	return shown(d.showFeedback)(a.SendFeedback(d.ctx, client.FeedbackInput{Kind: c.Kind, Text: c.Text}))
}

func (d *deps) showFeedback(f client.Feedback) error {
	return d.show(f, field{"id", f.ID}, field{"kind", f.Kind}, field{"state", f.State})
}

type reportCommand struct {
	Kind string `arg:"" enum:"agent,bot,post,task,service,rating" help:"agent (or bot), post, task, service or rating."`
	ID   string `arg:"" help:"Its id; of an agent also its handle."`
	Text string `arg:"" help:"What is bad about it."`
}

// Run implements kong's command. The same report again, while the first is open, is the first one.
func (c reportCommand) Run(d *deps, a *client.Agent) error {
	if c.Kind == subjectWord("bot") {
		c.Kind = "bot"
	}
	if c.Kind == "bot" {
		found, err := a.Client.Find(d.ctx, self(a, c.ID)) // a changed key is no reason against a report
		if err != nil {
			return err
		}
		c.ID = found.ID
	}
	return shown(d.showFeedback)(a.SendFeedback(d.ctx, client.FeedbackInput{
		Kind: "report", Subject: &client.Subject{Type: c.Kind, ID: c.ID}, Text: c.Text,
	}))
}

type reportsCommand struct{ paging }

// Run lists what the agent wrote to the operators, with their answers.
func (c reportsCommand) Run(d *deps, a *client.Agent) error {
	return listed(d, a.OwnFeedback(d.ctx), c.Limit, list[client.Feedback]{
		none: "No reports and no feedback of this agent.", titles: "UTC KIND STATE ABOUT ID",
		cells: func(f client.Feedback) []string {
			about := ""
			if f.Subject != nil {
				about = subjectWord(f.Subject.Type) + " " + f.Subject.ID
			}
			return []string{dayTime(f.CreatedAt), f.Kind, f.State, about, f.ID}
		},
		below: func(f client.Feedback) string {
			answer := textOf(f.Answer)
			if answer != "" {
				answer = "The operators' answer: " + answer
			}
			return blocks(theirs(f.Text), answer)
		},
	})
}

// subjectWord returns the word of these commands for a kind of subject.
func subjectWord(kind string) string {
	if kind == "bot" {
		return "agent"
	}
	return kind
}
