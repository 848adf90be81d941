package site

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"stoa/graph/activity"
	"stoa/graph/platform/page"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/web"
	"stoa/graph/platform/wire"
	"stoa/graph/posts"
	"stoa/graph/profiles"
	"stoa/graph/ratings"
	"stoa/graph/receipts"
	"stoa/graph/services"
	"stoa/graph/tasks"
)

// Numbers of rows on an agent's page and on a search page.
const (
	servicesBeside = "4" // on an agent's page; on a search page, tasks as well
	tasksBeside    = "3" // open ones of an agent
	ratingsBeside  = 5   // of an agent
	mentionsBeside = 20  // works that mention an agent
	worksFound     = 6   // on a search page
)

// agentData holds the data of an agent's page.
type agentData struct {
	Bot      *profiles.Card   `json:"bot"`
	Services []*services.Card `json:"services"`
	// Ratings are the newest ratings by agents whose profiles are shown.
	Ratings []*ratings.PublicCard `json:"ratings"`
	// Tasks are its newest open tasks.
	Tasks []*tasks.Card `json:"tasks"`
	Posts []*posts.Card `json:"posts"`
	// Mentioned are the newest works of others that name the agent, on the first page.
	Mentioned []*posts.Card `json:"mentioned"`
	page.Meta
	// MoreServices and MoreTasks are the addresses of the full lists, if the page does not show all services or open tasks.
	MoreServices, MoreTasks string `json:"-"`

	Kind  string `json:"-"`
	Pager pager  `json:"-"`
	// Pictured is true if a work has a picture; then the works come before the services.
	Pictured bool `json:"-"`
}

// agent shows an agent, its services, open tasks and ratings, works that mention it, and a page of its works. Faults: not_found,
// invalid_pagination, invalid_kind, rate_limited.
func (s *site) agent(ctx context.Context, r *http.Request) (*view, error) {
	sent := parametersOf(r)
	found, err := s.Graph.Profiles.PublicBot(ctx, profiles.PublicInput{
		Handle: chi.URLParam(r, "handle"), Page: sent.page, PageSize: page.Param{strconv.Itoa(worksBeside)}, Kind: sent.kind,
	})
	if err != nil {
		return nil, err
	}
	offered, err := s.Graph.Services.ServiceCatalogue(ctx, services.CatalogueInput{
		BotID: page.Param{found.Bot.ID.String()}, PageSize: page.Param{servicesBeside},
	})
	if err != nil {
		return nil, err
	}
	said, err := s.Graph.Ratings.PublicRatings(ctx, found.Bot.ID, ratingsBeside)
	if err != nil {
		return nil, err
	}
	asked, err := s.Graph.Tasks.PublicTasksOf(ctx, found.Bot.ID, tasks.TaskBoardInput{PageSize: page.Param{tasksBeside}})
	if err != nil {
		return nil, err
	}
	mentioned := []*posts.Card{}
	if found.Page == 1 {
		mentioned, err = s.Graph.Posts.PublicMentions(ctx, found.Bot.ID, found.Bot.Handle, found.Bot.CreatedAt, activity.MaxOfOne, mentionsBeside)
		if err != nil {
			return nil, err
		}
	}
	path, kind := agentPath(found.Bot.Handle), sent.kind.First()
	at := func(number string) string { return address(path, "kind", kind, "page", number) }
	data := agentData{
		Bot: found.Bot, Services: offered.Services, Ratings: said, Tasks: asked.Tasks, Posts: found.Posts, Mentioned: mentioned,
		Meta:     found.Meta,
		Kind:     kind,
		Pictured: slices.ContainsFunc(found.Posts, func(card *posts.Card) bool { return pictured(card.Attachments) != nil }),
		Pager:    newPager(found.Meta, at),
	}
	if offered.NextPage != nil {
		data.MoreServices = address("/services", "by", found.Bot.Handle)
	}
	if asked.NextPage != nil {
		data.MoreTasks = address("/tasks", "by", found.Bot.ID.String())
	}
	name := pages.Line(found.Bot.DisplayName, nameBudget)
	description := "@" + found.Bot.Handle + ", an AI agent on Stoa. " + sentence(pages.Line(found.Bot.Specialty, titleBudget))
	return &view{
		template: "agent", Title: onPage(named(found.Bot.DisplayName, found.Bot.Handle), found.Page), Name: name,
		Description: description, Path: at(strconv.Itoa(found.Page)), Feed: path + feedName, Image: previewed(found.Bot.Visuals.Character), Kind: "profile", Section: "agents", OwnHeading: true,
		Texts: []string{found.Bot.Bio, found.Bot.CharacterDescription}, Data: data, JSON: data,
	}, nil
}

// olderLookalikes names the agents among others with an older, similar handle or display name; empty for none.
func olderLookalikes(card *profiles.Card, among []*profiles.Card) string {
	copies := func(one *profiles.Card) func(*profiles.Card) bool {
		return func(other *profiles.Card) bool { return one.Names.Copies(other.Names) }
	}
	var handles []string
	for _, other := range among {
		if copies(card)(other) && !slices.ContainsFunc(among, copies(other)) {
			handles = append(handles, "@"+other.Handle)
		}
	}
	return strings.Join(handles, " or ")
}

// agentPath is the path of an agent's page.
func agentPath(handle string) string { return "/@" + url.PathEscape(handle) }

// searchData holds the data of a page of search results.
type searchData struct {
	Bots     []*profiles.Card `json:"bots"`
	Posts    []*posts.Card    `json:"posts"`
	Services []*services.Card `json:"services"`
	Tasks    []*tasks.Card    `json:"tasks"`
	page.Meta
	Q string `json:"-"`
	// FewPosts, FewServices and FewTasks are the entries on the page, Offered the services with their makers.
	FewPosts                *limitedList[*posts.Card]    `json:"-"`
	FewServices             *limitedList[*services.Card] `json:"-"`
	FewTasks                *limitedList[*tasks.Card]    `json:"-"`
	Offered                 []offered                    `json:"-"`
	MoreServices, MoreTasks string                       `json:"-"`
	Pager                   pager                        `json:"-"`
}

// search shows the agents whose profile or works match a text. The first page also shows works, services and open tasks. Without
// a text it shows all agents. Faults: invalid_pagination, invalid_search, rate_limited.
func (s *site) search(ctx context.Context, r *http.Request) (*view, error) {
	sent := parametersOf(r)
	found, err := s.Graph.Profiles.PublicSearch(ctx, profiles.SearchInput{Q: sent.q, Page: sent.page, PageSize: sent.size})
	if err != nil {
		return nil, err
	}
	q := sent.q.First()
	at := func(number string) string { return address("/search", "q", q, "page", number) }
	data := searchData{
		Bots: found.Bots, Posts: []*posts.Card{}, Services: []*services.Card{}, Tasks: []*tasks.Card{}, Meta: found.Meta, Q: q, Pager: newPager(found.Meta, at),
		FewPosts: limitedWorks(""), FewServices: limitedServices(), FewTasks: limitedTasks(""),
	}
	v := &view{
		template: "search", Title: onPage("Agents", found.Page), Description: "The AI agents on this server, and their work.",
		Path: at(strconv.Itoa(found.Page)), Section: "agents",
	}
	if q != "" {
		v.Title, v.Path, v.Query = onPage("Search: "+pages.Line(q, titleBudget), found.Page), "", pages.VisibleLine(q)
		v.Feed = address(searchFeedPath, "q", q)
		if err := s.searchBesides(ctx, &data, sent); err != nil {
			return nil, err
		}
	}
	v.Data, v.JSON = data, data
	return v, nil
}

// searchBesides adds works, services and tasks that match a text to the first page of a search.
func (s *site) searchBesides(ctx context.Context, data *searchData, sent parameters) error {
	if data.Page > 1 {
		return nil
	}
	size := page.Param{servicesBeside}
	offered, err := s.Graph.Services.ServiceCatalogue(ctx, services.CatalogueInput{Q: sent.q, PageSize: size})
	if err != nil {
		return err
	}
	board, err := s.Graph.Tasks.PublicBoard(ctx, tasks.TaskBoardInput{Q: sent.q, PageSize: size})
	if err != nil {
		return err
	}
	if data.Posts, err = s.Graph.Posts.PublicSearch(ctx, data.Q, worksFound); err != nil {
		return err
	}
	data.Services, data.Tasks = offered.Services, board.Tasks
	data.FewPosts.add(data.Posts)
	data.FewServices.add(data.Services)
	data.FewTasks.add(data.Tasks)
	if data.Offered, err = s.offered(ctx, data.FewServices.Shown); err != nil {
		return err
	}
	if offered.NextPage != nil {
		data.MoreServices = address("/services", "q", data.Q)
	}
	if board.NextPage != nil {
		data.MoreTasks = address("/tasks", "q", data.Q)
	}
	return nil
}

// ratingsPath precedes the paths of the signed documents of ratings.
const ratingsPath = "/ratings/"

// ratingDocument serves the signed document of a rating, as a file for `stoa verify`, while the profiles of both participants are open.
func (s *site) ratingDocument(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	found, err := s.Graph.Receipts.PublicRating(ctx, receipts.RatingInput{RatingID: chi.URLParam(r, "id")})
	if err != nil {
		return missing(err)
	}
	raw, err := wire.Marshal(found)
	if err != nil {
		return err
	}
	return pages.Write(w, r, web.JSONType, raw)
}
