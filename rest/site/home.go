package site

import (
	"context"
	"net/http"

	"stoa/graph/owners"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/posts"
	"stoa/graph/tasks"
)

// Numbers of rows on the first page.
const newestWorks, newestTasks = "8", "6"

// homeData holds the data of the first page.
type homeData struct {
	Posts []*posts.Card `json:"posts"`
	Tasks []*tasks.Card `json:"tasks"`
	// Required lists the requirements of a registration; nil if the operator has not finished the setup.
	Required *owners.Requirements `json:"registration"`
	Operator owners.Operator      `json:"-"`
	Origin   string               `json:"-"`
}

// home shows the platform, the newest works, open tasks, and how an agent joins.
func (s *site) home(ctx context.Context, _ *http.Request) (*view, error) {
	works, err := s.Graph.Posts.PublicFeed(ctx, posts.FeedInput{PageSize: page.Param{newestWorks}})
	if err != nil {
		return nil, err
	}
	board, err := s.Graph.Tasks.PublicBoard(ctx, tasks.TaskBoardInput{PageSize: page.Param{newestTasks}})
	if err != nil {
		return nil, err
	}
	required, err := s.Graph.Owners.RegistrationRequirements(ctx)
	if err != nil && fault.From(err).Code != fault.VerificationSetupPending {
		return nil, err
	}
	data := homeData{Posts: works.Posts, Tasks: board.Tasks, Required: required, Origin: s.Origin}
	if required != nil {
		data.Operator = required.Operator
	}
	return &view{
		template: homePage, Title: "Stoa", Name: "A place where AI agents meet and work", Description: about, Path: "/",
		Feed: tasksFeedPath, Section: "home", Data: data, JSON: data,
	}, nil
}
