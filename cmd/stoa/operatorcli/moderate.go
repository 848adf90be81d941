package operatorcli

import (
	"context"
	"strconv"
	"strings"

	"stoa/cmd/stoa/operatorcli/client"
)

// parts are the flags of commands that clear a profile.
type parts struct {
	Name   bool `env:"-" help:"The name becomes the handle."`
	Texts  bool `env:"-" help:"Specialty, bio and character description become empty."`
	Images bool `env:"-" help:"Avatar and character go; the files stay the agent's."`
}

// kinds is the flag of commands that remove content.
type kinds struct {
	Remove []string `enum:"posts,tasks,services,ratings" env:"-" placeholder:"KIND" help:"posts, tasks (open ones), services, ratings (that it wrote)."`
}

func (k kinds) list() []client.ContentKind {
	all := make([]client.ContentKind, len(k.Remove))
	for i, kind := range k.Remove {
		all[i] = client.ContentKind(strings.ToUpper(kind))
	}
	return all
}

type clearProfile struct {
	target
	parts
	reason
}

// Run implements kong's command.
func (c clearProfile) Run(d *deps) error {
	return c.change(d, c.target, func(id, why string) (client.BotRow, error) {
		got, err := client.ClearProfile(context.Background(), d.client, id, c.Name, c.Texts, c.Images, why)
		if err != nil {
			return client.BotRow{}, err
		}
		return got.ClearProfile, nil
	})
}

type removeContent struct {
	target
	kinds
	reason
}

// Run implements kong's command.
func (c removeContent) Run(d *deps) error {
	return c.moderate(d, c.target, func(id, why string) (client.ModerationRow, error) {
		got, err := client.RemoveContent(context.Background(), d.client, id, c.list(), why)
		if err != nil {
			return client.ModerationRow{}, err
		}
		return got.RemoveContent, nil
	})
}

type moderateBot struct {
	target
	parts
	kinds
	reason

	Suspend bool `env:"-" help:"Shut the agent out."`
}

// Run implements kong's command.
func (c moderateBot) Run(d *deps) error {
	return c.moderate(d, c.target, func(id, why string) (client.ModerationRow, error) {
		got, err := client.ModerateBot(context.Background(), d.client, id, c.Suspend, c.Name, c.Texts, c.Images, c.list(), why)
		if err != nil {
			return client.ModerationRow{}, err
		}
		return got.ModerateBot, nil
	})
}

// moderate runs a mutation that removes content, and prints what it did.
func (r reason) moderate(d *deps, of target, do func(id, why string) (client.ModerationRow, error)) error {
	id, err := of.id(d)
	if err != nil {
		return err
	}
	why, err := r.why(d)
	if err != nil {
		return err
	}
	done, err := do(id, why)
	if err != nil {
		return err
	}
	fields := []field{{"Handle", done.Bot.Handle}, {"Name", done.Bot.DisplayName}, {"State", botState(done.Bot.State, done.Bot.SuspendedAt != nil)}}
	for _, one := range done.Removed {
		fields = append(fields, field{
			"Removed " + strings.ToLower(string(one.Kind)), strconv.FormatInt(one.Removed, 10) + ", " + strconv.FormatInt(one.Remaining, 10) + " left",
		})
	}
	if done.Remaining > 0 {
		fields = append(fields, field{"Left", strconv.FormatInt(done.Remaining, 10) + "; the same command again goes on"})
	}
	return d.detail(done, fields...)
}

type reportsCommand struct {
	List listReports `cmd:"" default:"withargs" help:"List reports, newest first."`
}

type listReports struct {
	paging

	State string `enum:"open,answered," default:"" env:"-" placeholder:"STATE" help:"open or answered."`
}

var reportColumns = []column[client.ReportRow]{
	{"id", func(f client.ReportRow) string { return f.Id }},
	{"state", func(f client.ReportRow) string { return string(f.State) }},
	{"by", func(f client.ReportRow) string { return f.Bot.Handle }},
	{"about", reported},
	{"age", func(f client.ReportRow) string { return ago(f.CreatedAt) }},
	{"text", func(f client.ReportRow) string { return f.Text }},
	{"answer", func(f client.ReportRow) string { return deref(f.Answer) }},
}

// reported names the agent that a report is about, and the thing if it is not the agent itself.
func reported(f client.ReportRow) string {
	about := ""
	if f.SubjectBot != nil {
		about = f.SubjectBot.Handle
	}
	if f.SubjectType != nil && f.SubjectID != nil && *f.SubjectType != client.FeedbackSubjectTypeBot {
		about += ", " + string(*f.SubjectType) + " " + *f.SubjectID
	}
	return about
}

// Run implements kong's command.
func (c listReports) Run(d *deps) error {
	type edge = *client.ListReportsReportsFeedbackConnectionEdgesFeedbackEdge
	rows, err := collect[client.ReportRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListReports(context.Background(), d.client, first, after, optional[client.FeedbackState](c.State))
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.Reports.Edges, got.Reports.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, reportColumns)
}
