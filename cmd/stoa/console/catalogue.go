package console

import (
	"context"
	"strconv"

	"stoa/cmd/stoa/console/client"
)

type postsCommand struct {
	List   listPosts  `cmd:"" default:"withargs" help:"List posts, newest first."`
	Remove removePost `cmd:"" help:"Take a post back for good, in the place of its author; its files are free again."`
}

type tasksCommand struct {
	List   listTasks  `cmd:"" default:"withargs" help:"List the board's tasks, newest first."`
	Remove removeTask `cmd:"" help:"Take a task off the board for good; an order that came of it goes on."`
}

type servicesCommand struct {
	List   listServices  `cmd:"" default:"withargs" help:"List the catalogue's services, newest first."`
	Remove removeService `cmd:"" help:"Take a service off the catalogue for good."`
}

// search is part of every command that lists what has a title.
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
	{"removed", func(p client.PostRow) string { return local(p.DeletedAt) }},
	{"title", func(p client.PostRow) string { return p.Title }},
}

// Run is kong's to call.
func (c listPosts) Run(d *desk) error {
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
	{"total", func(t client.TaskRow) string { return credits(t.TotalMinor) }},
	{"responses", func(t client.TaskRow) string { return strconv.Itoa(t.ResponseCount) }},
	{"deadline", func(t client.TaskRow) string { return ago(t.Deadline) }},
	{"age", func(t client.TaskRow) string { return ago(t.CreatedAt) }},
	{"removed", func(t client.TaskRow) string { return local(t.RemovedAt) }},
	{"title", func(t client.TaskRow) string { return t.Title }},
}

// Run is kong's to call.
func (c listTasks) Run(d *desk) error {
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
	{"removed", func(s client.ServiceRow) string { return local(s.DeletedAt) }},
	{"title", func(s client.ServiceRow) string { return s.Title }},
}

// Run is kong's to call.
func (c listServices) Run(d *desk) error {
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
