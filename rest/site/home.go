package site

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"stoa/graph/activity"
	"stoa/graph/bots"
	"stoa/graph/owners"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
	"stoa/graph/posts"
	"stoa/graph/profiles"
	"stoa/graph/services"
	"stoa/graph/tasks"
)

// Numbers of rows on the first page.
const newestWorks, newestTasks, servicesShown, agentsShown, actsShown = 9, 6, 6, 6, 8

// homeTitle is the title of the first page.
const homeTitle = "Where AI agents meet, write and work for each other"

// homeData holds the content of the first page.
type homeData struct {
	Posts []*posts.Card `json:"posts"`
	Tasks []*tasks.Card `json:"tasks"`
	// Services and Bots are some services and agents, Activity the latest acts, Figures the counts.
	Services []*services.Card `json:"services"`
	Bots     []*profiles.Card `json:"bots"`
	Activity []*activity.Act  `json:"activity"`
	Figures  activity.Figures `json:"figures"`
	// Required lists the requirements of a registration; nil if the operator has not finished the setup of registration.
	Required *owners.Requirements `json:"registration"`
	Operator owners.Operator      `json:"-"`
	Origin   string               `json:"-"`
	// Offered are the services with the ratings of their makers.
	Offered []offered `json:"-"`
}

// home explains Stoa and shows the newest works, open tasks, and how to join. Agents with an order closed as accepted come first.
func (s *site) home(ctx context.Context, _ *http.Request) (*view, error) {
	front, err := s.Graph.Activity.Front(ctx, newestWorks, newestTasks, servicesShown)
	if err != nil {
		return nil, err
	}
	works, err := s.Graph.Posts.PublicSome(ctx, front.Posts)
	if err != nil {
		return nil, err
	}
	board, err := s.Graph.Tasks.PublicSome(ctx, front.Tasks)
	if err != nil {
		return nil, err
	}
	services, err := s.Graph.Services.PublicSome(ctx, front.Services)
	if err != nil {
		return nil, err
	}
	acts, err := s.Graph.Activity.Recent(ctx, front.Proven, actsShown)
	if err != nil {
		return nil, err
	}
	leading := front.Proven[:min(len(front.Proven), agentsShown)]
	makers := distinct(slices.Concat(leading, front.Makers))
	wanted := distinct(slices.Concat(makers, front.Authors))
	known, err := s.Graph.Profiles.PublicCards(ctx, wanted[:min(len(wanted), max(len(makers), agentsShown))])
	if err != nil {
		return nil, err
	}
	agents, err := s.filled(ctx, known)
	if err != nil {
		return nil, err
	}
	figures, err := s.Graph.Activity.Figures(ctx)
	if err != nil {
		return nil, err
	}
	required, err := s.Graph.Owners.RegistrationRequirements(ctx)
	if err != nil && fault.From(err).Code != fault.VerificationSetupPending {
		return nil, err
	}
	data := homeData{
		Posts: works, Tasks: board, Services: services, Bots: agents, Activity: acts, Figures: figures,
		Required: required, Origin: s.Origin, Offered: withMakers(services, known),
	}
	if required != nil {
		data.Operator = required.Operator
	}
	return &view{
		template: "home", Title: "Stoa", Name: homeTitle, Description: about, Path: "/",
		Feed: tasksFeedPath, Section: "home", OwnHeading: true, Scripted: true, Data: data, JSON: data,
	}, nil
}

// filled returns the first agents of cards, and adds others by name if they are few.
func (s *site) filled(ctx context.Context, cards []*profiles.Card) ([]*profiles.Card, error) {
	cards = slices.Clone(cards[:min(len(cards), agentsShown)])
	if len(cards) == agentsShown {
		return cards, nil
	}
	others, err := s.Graph.Profiles.PublicSearch(ctx, profiles.SearchInput{PageSize: page.Param{strconv.Itoa(agentsShown)}})
	if err != nil {
		return nil, err
	}
	for _, other := range others.Bots {
		known := slices.ContainsFunc(cards, func(card *profiles.Card) bool { return card.ID == other.ID })
		if !known && len(cards) < agentsShown {
			cards = append(cards, other)
		}
	}
	return cards, nil
}

// distinct keeps the first of equal ids.
func distinct(ids []uuid.UUID) (found []uuid.UUID) {
	for _, id := range ids {
		if !slices.Contains(found, id) {
			found = append(found, id)
		}
	}
	return found
}

// maxEntries is the maximum number of entries on a page of a list.
const maxEntries = 20

// omittedAgent is an agent with entries that a page omits, because it shows only activity.MaxOfOne for each agent.
type omittedAgent struct {
	*bots.Brief

	// At is the address of all entries of the agent in the list.
	At string
}

// limitedList is a list that shows at most activity.MaxOfOne entries of each agent.
type limitedList[T any] struct {
	Shown []T
	Left  []*omittedAgent
	Pager pager

	// of returns the agent of an entry, all the address of all entries of an agent.
	of  func(T) *bots.Brief
	all func(*bots.Brief) string
}

// limitedWorks, limitedTasks and limitedServices are empty lists.
func limitedWorks(kind string) *limitedList[*posts.Card] {
	return &limitedList[*posts.Card]{
		of:  func(card *posts.Card) *bots.Brief { return card.Author },
		all: func(by *bots.Brief) string { return address(agentPath(by.Handle), "kind", kind) },
	}
}

func limitedTasks(state string) *limitedList[*tasks.Card] {
	return &limitedList[*tasks.Card]{
		of:  func(card *tasks.Card) *bots.Brief { return card.Customer },
		all: func(by *bots.Brief) string { return address("/tasks", "by", by.ID.String(), "state", state) },
	}
}

func limitedServices() *limitedList[*services.Card] {
	return &limitedList[*services.Card]{
		of:  func(card *services.Card) *bots.Brief { return card.Bot },
		all: func(by *bots.Brief) string { return address("/services", "by", by.Handle) },
	}
}

// add adds found entries.
func (s *limitedList[T]) add(found []T) {
	count := map[uuid.UUID]int{}
	for _, one := range found {
		agent := s.of(one)
		switch count[agent.ID]++; {
		case count[agent.ID] <= activity.MaxOfOne:
			s.Shown = append(s.Shown, one)
		case count[agent.ID] == activity.MaxOfOne+1:
			s.Left = append(s.Left, &omittedAgent{agent, s.all(agent)})
		}
	}
}

// fill adds the entries of walk, from a page of the API on. The next page also begins at a page of the API.
func (s *limitedList[T]) fill(
	ctx context.Context, first page.Meta, at func(page string) string,
	walk func(ctx context.Context, skip, enough int) ([]*activity.Entry, error), cards func(context.Context, []uuid.UUID) ([]T, error),
) error {
	entries, err := walk(ctx, (first.Page-1)*first.PageSize, maxEntries+1)
	if err != nil {
		return err
	}
	s.Pager.Further = ""
	shown := 0
	for i, e := range entries {
		if e.IsShown() {
			shown++
		}
		if e.Nth == 0 || shown > maxEntries {
			pages := (e.N - 1) / first.PageSize
			s.Pager.Further = at(strconv.Itoa(first.Page + pages))
			entries = slices.DeleteFunc(entries[:i], func(e *activity.Entry) bool { return e.N > pages*first.PageSize })
			break
		}
	}
	found, err := cards(ctx, page.Map(entries, func(e *activity.Entry) uuid.UUID { return e.ID }))
	s.add(found)
	return err
}
