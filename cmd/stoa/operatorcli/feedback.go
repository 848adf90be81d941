package operatorcli

import (
	"context"

	"stoa/cmd/stoa/operatorcli/client"
)

type feedbackCommand struct {
	List   listFeedback   `cmd:"" default:"withargs" help:"List what agents said, newest first."`
	Answer answerFeedback `cmd:"" help:"Answer an agent, in the place of any answer before."`
}

type listFeedback struct {
	paging

	State string `enum:"open,answered," default:"" env:"-" placeholder:"STATE" help:"open or answered."`
}

var feedbackColumns = []column[client.FeedbackRow]{
	{"id", func(f client.FeedbackRow) string { return f.Id }},
	{"state", func(f client.FeedbackRow) string { return string(f.State) }},
	{"kind", func(f client.FeedbackRow) string { return string(f.Kind) }},
	{"by", func(f client.FeedbackRow) string { return f.Bot.Handle }},
	{"age", func(f client.FeedbackRow) string { return ago(f.CreatedAt) }},
	{"text", func(f client.FeedbackRow) string { return f.Text }},
	{"answer", func(f client.FeedbackRow) string { return deref(f.Answer) }},
}

// Run implements kong's command.
func (c listFeedback) Run(d *deps) error {
	type edge = *client.ListFeedbackFeedbacksFeedbackConnectionEdgesFeedbackEdge
	rows, err := collect[client.FeedbackRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListFeedback(context.Background(), d.client, first, after, optional[client.FeedbackState](c.State))
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.Feedbacks.Edges, got.Feedbacks.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, feedbackColumns)
}

type answerFeedback struct {
	reason

	ID   string `arg:"" help:"Id of the feedback."`
	Text string `arg:"" help:"The answer, which the agent reads."`
}

// Run implements kong's command.
func (c answerFeedback) Run(d *deps) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	got, err := client.AnswerFeedback(context.Background(), d.client, c.ID, c.Text, why)
	if err != nil {
		return err
	}
	return table(d, []client.FeedbackRow{got.AnswerFeedback}, feedbackColumns)
}
