package operatorcli

import (
	"context"
	"strconv"

	"github.com/Khan/genqlient/graphql"

	"stoa/cmd/stoa/operatorcli/client"
)

type postsCommand struct {
	List   listPosts  `cmd:"" default:"withargs" help:"List posts, newest first."`
	Remove removePost `cmd:"" help:"Take a post back for good, in the place of its author; its files are free again."`
}

type tasksCommand struct {
	List   listTasks  `cmd:"" default:"withargs" help:"List the board's tasks, newest first."`
	Remove removeTask `cmd:"" help:"Take a task off the board permanently; an order made from it continues."`
}

type servicesCommand struct {
	List   listServices  `cmd:"" default:"withargs" help:"List the catalogue's services, newest first."`
	Remove removeService `cmd:"" help:"Take a service off the catalogue for good."`
}

type ratingsCommand struct {
	List   listRatings  `cmd:"" default:"withargs" help:"List ratings, newest first."`
	Remove removeRating `cmd:"" help:"Take a rating out of an agent's reputation for good."`
}

// search holds the flags of commands that search by title.
type search struct {
	paging

	Search string `env:"-" placeholder:"TEXT" help:"In the title."`
}

type (
	listPosts    struct{ search }
	listTasks    struct{ search }
	listServices struct{ search }
)

var postColumns = []column[client.PostRow]{
	{"id", func(p client.PostRow) string { return p.Id }},
	{"by", func(p client.PostRow) string { return p.Author.Handle }},
	{"kind", func(p client.PostRow) string { return string(p.Kind) + ", " + string(p.Visibility) }},
	{"age", func(p client.PostRow) string { return ago(p.CreatedAt) }},
	{"removed", func(p client.PostRow) string { return formatTime(p.DeletedAt) }},
	{"title", func(p client.PostRow) string { return p.Title }},
}

// Run implements kong's command.
func (c listPosts) Run(d *deps) error {
	type edge = *client.ListPostsPostsPostConnectionEdgesPostEdge
	rows, err := collect[client.PostRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListPosts(context.Background(), d.client, first, after, c.Search)
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.Posts.Edges, got.Posts.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, postColumns)
}

var taskColumns = []column[client.TaskRow]{
	{"id", func(t client.TaskRow) string { return t.Id }},
	{"by", func(t client.TaskRow) string { return t.Customer.Handle }},
	{"state", func(t client.TaskRow) string { return string(t.State) }},
	{"total", func(t client.TaskRow) string { return formatCredits(t.TotalMinor) }},
	{"responses", func(t client.TaskRow) string { return strconv.Itoa(t.ResponseCount) }},
	{"deadline", func(t client.TaskRow) string { return ago(t.Deadline) }},
	{"age", func(t client.TaskRow) string { return ago(t.CreatedAt) }},
	{"removed", func(t client.TaskRow) string { return formatTime(t.RemovedAt) }},
	{"title", func(t client.TaskRow) string { return t.Title }},
}

// Run implements kong's command.
func (c listTasks) Run(d *deps) error {
	type edge = *client.ListTasksTasksTaskConnectionEdgesTaskEdge
	rows, err := collect[client.TaskRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListTasks(context.Background(), d.client, first, after, c.Search)
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.Tasks.Edges, got.Tasks.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, taskColumns)
}

var serviceColumns = []column[client.ServiceRow]{
	{"id", func(s client.ServiceRow) string { return s.Id }},
	{"by", func(s client.ServiceRow) string { return s.Bot.Handle }},
	{"age", func(s client.ServiceRow) string { return ago(s.CreatedAt) }},
	{"removed", func(s client.ServiceRow) string { return formatTime(s.DeletedAt) }},
	{"title", func(s client.ServiceRow) string { return s.Title }},
}

// Run implements kong's command.
func (c listServices) Run(d *deps) error {
	type edge = *client.ListServicesServicesServiceConnectionEdgesServiceEdge
	rows, err := collect[client.ServiceRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListServices(context.Background(), d.client, first, after, c.Search)
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.Services.Edges, got.Services.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, serviceColumns)
}

type listRatings struct {
	paging

	Search string `env:"-" placeholder:"TEXT" help:"In the text."`
}

var ratingColumns = []column[client.RatingRow]{
	{"id", func(r client.RatingRow) string { return r.Id }},
	{"of", func(r client.RatingRow) string { return r.Subject.Handle }},
	{"by", func(r client.RatingRow) string { return r.Author.Handle }},
	{"stars", func(r client.RatingRow) string { return strconv.Itoa(r.Stars) }},
	{"age", func(r client.RatingRow) string { return ago(r.CreatedAt) }},
	{"removed", func(r client.RatingRow) string { return formatTime(r.RemovedAt) }},
	{"text", func(r client.RatingRow) string { return r.Text }},
}

// Run implements kong's command.
func (c listRatings) Run(d *deps) error {
	type edge = *client.ListRatingsRatingsRatingConnectionEdgesRatingEdge
	rows, err := collect[client.RatingRow](c.paging, func(first int, after *string) (connection[edge], error) {
		got, err := client.ListRatings(context.Background(), d.client, first, after, c.Search)
		if err != nil {
			return connection[edge]{}, err
		}
		return connection[edge]{got.Ratings.Edges, got.Ratings.PageInfo}, nil
	})
	if err != nil {
		return err
	}
	return table(d, rows, ratingColumns)
}

type attachmentsCommand struct {
	Remove removeAttachment `cmd:"" help:"Take a file away from everyone, its owner too, for good."`
}

// removal is the argument of every command that removes something permanently.
type removal struct {
	reason

	ID string `arg:"" help:"Its id."`
}

type (
	removePost       struct{ removal }
	removeTask       struct{ removal }
	removeService    struct{ removal }
	removeRating     struct{ removal }
	removeAttachment struct{ removal }
)

// Run implements kong's command.
func (c removePost) Run(d *deps) error { return remove(d, c.removal, "post", client.RemovePost) }

// Run implements kong's command.
func (c removeTask) Run(d *deps) error { return remove(d, c.removal, "task", client.RemoveTask) }

// Run implements kong's command.
func (c removeService) Run(d *deps) error {
	return remove(d, c.removal, "service", client.RemoveService)
}

// Run implements kong's command.
func (c removeRating) Run(d *deps) error {
	return remove(d, c.removal, "rating", client.RemoveRating)
}

// Run implements kong's command.
func (c removeAttachment) Run(d *deps) error {
	return remove(d, c.removal, "file", client.RemoveAttachment)
}

// remove calls a mutation that removes something.
func remove[Response any](
	d *deps, c removal, what string, call func(context.Context, graphql.Client, string, string) (*Response, error),
) error {
	why, err := c.why(d)
	if err != nil {
		return err
	}
	if _, err := call(context.Background(), d.client, c.ID, why); err != nil {
		return err
	}
	return d.detail(struct {
		Removed string `json:"removed"`
		ID      string `json:"id"`
	}{what, c.ID}, field{"Removed", what + " " + c.ID})
}
