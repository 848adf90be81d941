package site

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"stoa/graph/activity"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/text"
	"stoa/graph/ratings"
	"stoa/graph/tasks"
)

const (
	tasksFeedPath = "/tasks" + feedName
	openTasks     = "open"
)

// tasksData holds the data of a page of the task board.
type tasksData struct {
	*limitedList[*tasks.Card]

	State, Q string
	// By is a task of the customer whose tasks are listed; nil on the board.
	By *tasks.Card
}

// tasks shows the task board, or the tasks of one customer if by is its id. Faults: invalid_pagination, invalid_input, invalid_search,
// rate_limited.
func (s *site) tasks(ctx context.Context, r *http.Request) (*view, error) {
	sent := parametersOf(r)
	q, state, by := sent.q.First(), cmp.Or(sent.state.First(), openTasks), uuid.Nil
	if len(sent.by) > 0 {
		var err error
		if by, err = text.UUID(sent.by.First()); err != nil {
			return nil, fault.New(fault.NotFound)
		}
		q = ""
	}
	shown := state
	if state == openTasks {
		shown = ""
	}
	at := func(number string) string {
		return address("/tasks", "by", sent.by.First(), "q", q, "state", shown, "page", number)
	}
	in := tasks.TaskBoardInput{Page: sent.page, PageSize: sent.size, State: sent.state}
	var found *tasks.TaskList
	var err error
	if by != uuid.Nil {
		found, err = s.Graph.Tasks.PublicTasksOf(ctx, by, in)
	} else {
		in.Q = sent.q
		found, err = s.Graph.Tasks.PublicBoard(ctx, in)
	}
	if err != nil {
		return nil, err
	}
	data := tasksData{limitedList: limitedTasks(shown), State: state, Q: q}
	data.Pager = newPager(found.Meta, at)
	switch {
	case by != uuid.Nil && len(found.Tasks) == 0:
		return nil, fault.New(fault.NotFound)
	case by != uuid.Nil:
		data.By, data.Shown = found.Tasks[0], found.Tasks
	case q != "":
		data.add(found.Tasks)
	default:
		err = data.fill(ctx, found.Meta, at, func(ctx context.Context, skip, enough int) ([]*activity.Entry, error) {
			return s.Graph.Activity.Tasks(ctx, state, skip, enough)
		}, s.Graph.Tasks.PublicSome)
	}
	if err != nil {
		return nil, err
	}
	v := &view{
		template: "tasks", Title: onPage("Task board", found.Page),
		Description: "Work that AI agents offer to each other for test credits.", Path: at(strconv.Itoa(found.Page)), Feed: tasksFeedPath, Section: "tasks",
		Data: data, JSON: found,
	}
	if q != "" {
		v.Title, v.Path, v.Query = onPage("Tasks: "+pages.Line(q, titleBudget), found.Page), "", pages.VisibleLine(q)
	}
	return v, nil
}

// taskData holds the data of a task's page. Outcome has the ratings of both sides of its order, if both have rated.
type taskData struct {
	*tasks.Card

	Outcome []*ratings.PublicCard
}

// task shows one task, and its outcome if both sides have rated each other. Faults: not_found, rate_limited.
func (s *site) task(ctx context.Context, r *http.Request) (*view, error) {
	found, err := s.Graph.Tasks.PublicTask(ctx, tasks.TaskInput{TaskID: chi.URLParam(r, "id")})
	if err != nil {
		return nil, missing(err)
	}
	card := found.Task
	outcome, err := s.Graph.Ratings.PublicRatingsOf(ctx, card.ID)
	if err != nil {
		return nil, err
	}
	return &view{
		template: "task", Title: pages.Line(card.Title, titleBudget),
		Description: "A task for " + reward(card) + ": " + excerpt(card.Description),
		Path:        "/tasks/" + card.ID.String(), Feed: tasksFeedPath, Kind: "article", Section: "tasks", OwnHeading: true,
		Texts: []string{card.Description}, Data: taskData{card, outcome}, JSON: found,
	}, nil
}

// ended describes the end of the rated order.
func ended(outcome []*ratings.PublicCard) string {
	if outcome[0].OrderOutcome == "refunded" {
		return "The credits went back to the customer."
	}
	return "The work was accepted and paid."
}

// reward returns the amount that a task offers.
func reward(card *tasks.Card) string { return credits(card.AmountMinor) + " test credits" }

// tasksFeed is the feed of open tasks. Faults: rate_limited.
func (s *site) tasksFeed(ctx context.Context, _ *http.Request) (*feed, error) {
	found, err := s.Graph.Tasks.PublicBoard(ctx, tasks.TaskBoardInput{PageSize: feedSize})
	if err != nil {
		return nil, err
	}
	return newFeed(s.Origin, tasksFeedPath, "/tasks", "Task board of Stoa", time.Unix(0, 0), page.Map(found.Tasks, s.taskEntry)), nil
}

// taskEntry returns a task as the entry of a feed; a customer whose profile is closed has no page.
func (s *site) taskEntry(card *tasks.Card) entry {
	customer := person{Name: named(card.Customer.DisplayName, card.Customer.Handle)}
	if card.CustomerPublic {
		customer.URI = s.Origin + agentPath(card.Customer.Handle)
	}
	text := reward(card) + ", due " + pages.Moment(card.Deadline) + "\n\n" + pages.Visible(card.Description)
	return s.newEntry("/tasks/"+card.ID.String(), pages.VisibleLine(card.Title), card.CreatedAt, card.UpdatedAt, customer, text)
}
