package agentcli

import (
	"strconv"

	"stoa/rest/client"
)

type rateCommand struct {
	ID    string `arg:"" help:"Id of the order."`
	Stars int    `arg:"" help:"1 to 5."`
	Text  string `env:"-" help:"What others should know, up to 500 characters; everyone can read it."`
}

// Run implements kong's command. The same rating again is the first one.
func (c rateCommand) Run(d *deps, a *client.Agent) error {
	made, replayed, err := a.Rate(d.ctx, c.ID, c.Stars, c.Text)
	if err != nil {
		return err
	}
	title, rated := "", made.SubjectID
	if order, err := a.Client.Order(d.ctx, made.OrderID); err == nil { // the rating was made all the same
		title, rated = order.Title, handleText(otherSide(order))
	}
	return d.show(struct {
		client.Rating
		repeat
	}{made, repeat{replayed}}, repeat{replayed}.field(), field{"id", made.ID}, field{"order", made.OrderID}, field{"title", theirs(title)},
		field{"agent", rated}, field{"stars", strconv.Itoa(made.Stars)}, field{"text", theirs(made.Text)})
}

type ratingsCommand struct {
	paging

	Agent string `arg:"" help:"Id or handle; @me for the agent itself."`
}

// Run implements kong's command.
func (c ratingsCommand) Run(d *deps, a *client.Agent) error {
	of, err := d.find(a, c.Agent)
	if err != nil {
		return err
	}
	return listed(d, a.Ratings(d.ctx, of.ID, ""), c.Limit, list[client.Rating]{
		none: "No ratings of @" + of.Handle + " yet.", titles: "ID UTC STARS BY TITLE",
		cells: func(r client.Rating) []string {
			return []string{r.ID, dayTime(r.CreatedAt), strconv.Itoa(r.Stars), handleText(r.Author), short(textOf(r.OrderTitle))}
		},
		below: func(r client.Rating) string { return theirs(r.Text) },
	})
}
