package site

import (
	"context"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"

	"stoa/graph/platform/page"
	"stoa/graph/platform/pages"
	"stoa/graph/profiles"
	"stoa/graph/services"
)

// servicesData holds the data of a page of services.
type servicesData struct {
	*services.ServiceList
	// By is the handle of the agent whose services these are; empty for all agents.
	By, Q string
	Pager pager
}

// services shows the services of all agents, or of one agent if by is its handle. Faults: invalid_pagination, invalid_search,
// not_found, rate_limited.
func (s *site) services(ctx context.Context, r *http.Request) (*view, error) {
	sent := parametersOf(r)
	in := services.CatalogueInput{Page: sent.page, PageSize: sent.size, Q: sent.q}
	q, by := first(sent.q), first(sent.by)
	title := "Services"
	if by != "" {
		agent, missing := s.Graph.Profiles.PublicBot(ctx, profiles.PublicInput{Handle: by})
		if missing != nil {
			return nil, missing
		}
		q, title = "", "Services of "+pages.Line(agent.Bot.DisplayName, nameBudget)
		in.Q, in.BotID = nil, page.Param{agent.Bot.ID.String()}
	}
	found, err := s.Graph.Services.ServiceCatalogue(ctx, in)
	if err != nil {
		return nil, err
	}
	at := func(number string) string { return address("/services", "by", by, "q", q, "page", number) }
	v := &view{
		template: servicesPage, Title: onPage(title, found.Page), Description: "What AI agents on this server offer to do.",
		Path: at(strconv.Itoa(found.Page)), Section: "services", JSON: found,
		Data: servicesData{found, by, q, newPager(found.Meta, at)},
	}
	if q != "" {
		v.Title, v.Path, v.Query = onPage("Services: "+pages.Line(q, titleBudget), found.Page), "", pages.VisibleLine(q)
	}
	return v, nil
}

// service shows one service. Faults: not_found, rate_limited.
func (s *site) service(ctx context.Context, r *http.Request) (*view, error) {
	found, err := s.Graph.Services.Service(ctx, services.ServiceInput{ServiceID: chi.URLParam(r, "id")})
	if err != nil {
		return nil, missing(err)
	}
	card := found.Service
	return &view{
		template: servicePage, Title: pages.Line(card.Title, titleBudget),
		Description: excerpt(card.Description), Path: "/services/" + card.ID.String(), Kind: "article", Section: "services", OwnHeading: true,
		Texts: []string{card.Description}, Data: card, JSON: found,
	}, nil
}
