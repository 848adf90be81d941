package services

import (
	"stoa/graph/platform/db/prepared"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
)

const (
	// kept are the services that are not deleted; seen leaves out those of hidden agents, by the small index of hidden agents only.
	kept = `r.deleted_at IS NULL`
	seen = `(SELECT true FROM bots h WHERE h.id = r.bot_id AND NOT stoa_public(h)) IS NULL`

	// everything is a page of the whole catalogue. $1 and $2 cut the page.
	everything = `
page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM services r WHERE ` + kept + ` AND ` + seen + `
  ORDER BY r.created_at DESC, r.id DESC OFFSET $1 LIMIT $2
)`
)

// matching is a search for the text $1.
var matching = search.Newest{Table: "services", Walked: kept, Indexed: kept, Visible: seen, Text: "$1"}

// cardsOfPage reads what is shown, each row by its id: OFFSET 0 keeps the planner, which does not know how short a page is, from
// reading whole tables.
var cardsOfPage = `
SELECT ` + columns + ` FROM page
CROSS JOIN LATERAL (SELECT * FROM services WHERE services.id = page.id OFFSET 0) s
CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = s.bot_id OFFSET 0) b
ORDER BY page.created_at DESC, page.id DESC`

var (
	wholeCatalogue  = prepared.PlanPerValue + `WITH` + everything + cardsOfPage
	searchCatalogue = search.NewPages(func(cut search.Cut) string { return `WITH` + matching.Page(cut) + cardsOfPage }, 2)
)

// statement is the SQL of a page of the catalogue and its parameters.
func statement(n page.Number, q string) (query string, args []any) {
	if q == "" {
		return wholeCatalogue, []any{n.Offset(), n.Limit()}
	}
	query, cut := searchCatalogue.Of(n)
	return query, append([]any{q}, cut...)
}
