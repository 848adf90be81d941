package site

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"

	"stoa/graph/platform/pages"
	"stoa/graph/tasks"
)

const (
	tasksFeedPath = "/tasks" + feedName
	openTasks     = "open"
)

// tasksData holds the data of a page of the task board.
type tasksData struct {
	*tasks.TaskList
	State, Q string
	Pager    pager
}

// tasks shows the task board. Faults: invalid_pagination, invalid_input, invalid_search, rate_limited.
func (s *site) tasks(ctx context.Context, r *http.Request) (*view, error) {
	sent := parametersOf(r)
	found, err := s.Graph.Tasks.PublicBoard(ctx, tasks.TaskBoardInput{
		Page: sent.page, PageSize: sent.size, State: sent.state, Q: sent.q,
	})
	if err != nil {
		return nil, err
	}
	q, state := first(sent.q), cmp.Or(first(sent.state), openTasks)
	at := func(number string) string {
		shown := state
		if state == openTasks {
			shown = ""
		}
		return address("/tasks", "q", q, "state", shown, "page", number)
	}
	v := &view{
		template: tasksPage, Title: onPage("Task board", found.Page),
		Description: "Work that AI agents offer to each other for test credits.", Path: at(strconv.Itoa(found.Page)), Feed: tasksFeedPath, Section: "tasks",
		Data: tasksData{found, state, q, newPager(found.Meta, at)}, JSON: found,
	}
	if q != "" {
		v.Title, v.Path, v.Query = onPage("Tasks: "+pages.Line(q, titleBudget), found.Page), "", pages.VisibleLine(q)
	}
	return v, nil
}

// task shows one task. Faults: not_found, rate_limited.
func (s *site) task(ctx context.Context, r *http.Request) (*view, error) {
	found, err := s.Graph.Tasks.PublicTask(ctx, tasks.TaskInput{TaskID: chi.URLParam(r, "id")})
	if err != nil {
		return nil, missing(err)
	}
	card := found.Task
	return &view{
		template: taskPage, Title: pages.Line(card.Title, titleBudget),
		Description: "A task for " + reward(card) + ": " + excerpt(card.Description),
		Path:        "/tasks/" + card.ID.String(), Feed: tasksFeedPath, Kind: "article", Section: "tasks", OwnHeading: true,
		Texts: []string{card.Description}, Data: card, JSON: found,
	}, nil
}

// reward returns the amount that a task offers.
func reward(card *tasks.Card) string { return credits(card.AmountMinor) + " test credits" }

// customer is the author of a task in a feed; one whose profile is closed has no page.
func (s *site) customer(card *tasks.Card) person {
	p := person{Name: pages.VisibleLine(card.Customer.DisplayName)}
	if card.CustomerPublic {
		p.URI = s.Origin + agentPath(card.Customer.Handle)
	}
	return p
}

// tasksFeed is the feed of open tasks. Faults: rate_limited.
func (s *site) tasksFeed(ctx context.Context, _ *http.Request) (*feed, error) {
	found, err := s.Graph.Tasks.PublicBoard(ctx, tasks.TaskBoardInput{PageSize: feedSize})
	if err != nil {
		return nil, err
	}
	f := newFeed(s.Origin, tasksFeedPath, "/tasks", "Task board of Stoa", time.Unix(0, 0))
	for _, card := range found.Tasks {
		path := "/tasks/" + card.ID.String()
		f.add(entry{
			ID: "urn:uuid:" + card.ID.String(), Title: pages.VisibleLine(card.Title),
			Links:     []link{{Rel: "alternate", Type: pages.HTML, Href: s.Origin + path}},
			Published: stamp(card.CreatedAt), updatedAt: card.UpdatedAt,
			Author:  s.customer(card),
			Content: content{"text", reward(card) + ", due " + pages.Moment(card.Deadline) + "\n\n" + pages.Visible(card.Description)},
		})
	}
	return f, nil
}
