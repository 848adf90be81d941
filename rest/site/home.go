package site

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"stoa/graph/activity"
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
	// Services and Bots are some of each, Activity the latest acts, Figures the counts.
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
		template: homePage, Title: "Stoa", Name: homeTitle, Description: about, Path: "/",
		Feed: tasksFeedPath, Section: "home", OwnHeading: true, Scripted: true, Data: data, JSON: data,
	}, nil
}

// filled returns the first of some agents, filled up with others by name if they are few.
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
