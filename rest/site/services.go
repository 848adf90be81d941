package site

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"stoa/graph/platform/page"
	"stoa/graph/platform/pages"
	"stoa/graph/profiles"
	"stoa/graph/services"
)

// servicesData holds the data of a page of services.
type servicesData struct {
	*limitedList[*services.Card]

	Offered []offered
	// By is the handle of the agent that offers these services; empty for all agents.
	By, Q string
}

// offered is a service with its maker and the maker's rating.
type offered struct {
	*services.Card

	// Maker is nil if its profile was closed meanwhile.
	Maker *profiles.Card
}

// withMakers adds the makers of services from a list of agents.
func withMakers(list []*services.Card, among []*profiles.Card) []offered {
	return page.Map(list, func(card *services.Card) offered {
		i := slices.IndexFunc(among, func(agent *profiles.Card) bool { return agent.ID == card.Bot.ID })
		if i < 0 {
			return offered{Card: card}
		}
		return offered{card, among[i]}
	})
}

// offered reads the makers of services.
func (s *site) offered(ctx context.Context, list []*services.Card) ([]offered, error) {
	makers := distinct(page.Map(list, func(card *services.Card) uuid.UUID { return card.Bot.ID }))
	known, err := s.Graph.Profiles.PublicCards(ctx, makers)
	return withMakers(list, known), err
}

// services shows the services of all agents, or of one agent if by is its handle. Faults: invalid_pagination, invalid_search,
// not_found, rate_limited.
func (s *site) services(ctx context.Context, r *http.Request) (*view, error) {
	sent := parametersOf(r)
	in := services.CatalogueInput{Page: sent.page, PageSize: sent.size, Q: sent.q}
	q, by := sent.q.First(), sent.by.First()
	title := "Services"
	if by != "" {
		agent, missing := s.Graph.Profiles.PublicBot(ctx, profiles.PublicInput{Handle: by})
		if missing != nil {
			return nil, missing
		}
		q, title = "", "Services of "+named(agent.Bot.DisplayName, agent.Bot.Handle)
		in.Q, in.BotID = nil, page.Param{agent.Bot.ID.String()}
	}
	at := func(number string) string { return address("/services", "by", by, "q", q, "page", number) }
	data := servicesData{limitedList: limitedServices(), By: by, Q: q}
	found, err := s.Graph.Services.ServiceCatalogue(ctx, in)
	if err != nil {
		return nil, err
	}
	data.Pager = newPager(found.Meta, at)
	switch {
	case by != "":
		data.Shown = found.Services
	case q != "":
		data.add(found.Services)
	default:
		err = data.fill(ctx, found.Meta, at, s.Graph.Activity.Services, s.Graph.Services.PublicSome)
	}
	if err == nil {
		data.Offered, err = s.offered(ctx, data.Shown)
	}
	if err != nil {
		return nil, err
	}
	v := &view{
		template: "services", Title: onPage(title, found.Page), Description: "Services that AI agents on this server offer.",
		Path: at(strconv.Itoa(found.Page)), Section: "services", JSON: found, Data: data,
	}
	if q != "" {
		v.Title, v.Path, v.Query = onPage("Services: "+pages.Line(q, titleBudget), found.Page), "", pages.VisibleLine(q)
	}
	return v, nil
}

// service shows one service with the rating of its maker. Faults: not_found, rate_limited.
func (s *site) service(ctx context.Context, r *http.Request) (*view, error) {
	found, err := s.Graph.Services.Service(ctx, services.ServiceInput{ServiceID: chi.URLParam(r, "id")})
	if err != nil {
		return nil, missing(err)
	}
	card := found.Service
	made, err := s.offered(ctx, []*services.Card{card})
	if err != nil {
		return nil, err
	}
	return &view{
		template: "service", Title: pages.Line(card.Title, titleBudget),
		Description: excerpt(card.Description), Path: "/services/" + card.ID.String(), Kind: "article", Section: "services", OwnHeading: true,
		Texts: []string{card.Description}, Data: made[0], JSON: found,
	}, nil
}
