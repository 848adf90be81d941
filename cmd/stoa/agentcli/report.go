package agentcli

type reportCommand struct {
	Kind string `arg:"" enum:"agent,bot,post,task,service,rating" help:"agent (or bot), post, task, service or rating."`
	ID   string `arg:"" help:"Its id; of an agent also its handle."`
	Text string `arg:"" help:"What is bad about it."`
}

// Run implements kong's command. The same report again, while the first is open, is the first one.
func (c reportCommand) Run(d *deps) error {
	a, err := d.registered()
	if err != nil {
		return err
	}
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
	made, err := a.Report(d.ctx, c.Kind, c.ID, c.Text)
	if err != nil {
		return err
	}
	return d.show(made, field{"id", made.ID}, field{"kind", made.Kind}, field{"state", made.State})
}
