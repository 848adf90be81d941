package services

import (
	"strings"

	"stoa/graph/db/prepared"
	"stoa/graph/page"
	"stoa/graph/search"
)

const (
	// searched is what is searched of a service s, spelled as in the indexes (migrate/sql/0013_services.sql).
	searched = `(s.title || E'\x1f' || s.description)`

	// seen leaves out the services s of hidden agents, by the small index of hidden agents only.
	seen = `(SELECT true FROM bots h WHERE h.id = s.bot_id AND NOT stoa_public(h)) IS NULL`

	// everything is a page of the whole catalogue. $1 and $2 cut the page.
	everything = `
page AS MATERIALIZED (
  SELECT s.id, s.created_at FROM services s WHERE s.deleted_at IS NULL AND ` + seen + `
  ORDER BY s.created_at DESC, s.id DESC OFFSET $1 LIMIT $2
)`

	// matching is a page of the services with the pattern $3. It takes what an index finds, unless that is more than 1000 rows: then
	// the search is for something common, and reading the catalogue in order until the page is full costs less than finding all.
	matching = `
hits AS MATERIALIZED (SELECT s.id FROM services s WHERE s.deleted_at IS NULL AND [index]),
few AS MATERIALIZED (SELECT id FROM hits LIMIT 1001),
page AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT s.id, s.created_at FROM services s
     WHERE (SELECT count(*) <= 1000 FROM few) AND s.id IN (SELECT id FROM few) AND ` + seen + `
     ORDER BY s.created_at DESC, s.id DESC)
    UNION ALL
    (SELECT s.id, s.created_at FROM services s
     WHERE (SELECT count(*) > 1000 FROM few) AND s.deleted_at IS NULL AND ` + searched + ` ILIKE $3 AND ` + seen + `
     ORDER BY s.created_at DESC, s.id DESC)
  ) found ORDER BY created_at DESC, id DESC OFFSET $1 LIMIT $2
)`
)

// cardsOfPage reads what is shown, each row by its id: OFFSET 0 keeps the planner, which does not know how short a page is, from
// reading whole tables.
var cardsOfPage = `
SELECT ` + columns + ` FROM page
CROSS JOIN LATERAL (SELECT * FROM services WHERE services.id = page.id OFFSET 0) s
CROSS JOIN LATERAL (SELECT * FROM bots WHERE bots.id = s.bot_id OFFSET 0) b
ORDER BY page.created_at DESC, page.id DESC`

const (
	byTrigrams = searched + ` ILIKE $3`
	byGrams    = `stoa_grams(` + searched + `) @> stoa_grams($4) AND ` + searched + ` ILIKE $3`
)

// statement is the SQL of a page of the catalogue, planned for its values. Only the index of grams knows short texts, and letters
// beyond ASCII in every locale; it takes the text as one more parameter.
func statement(n page.Number, q string) (query string, args []any) {
	found, args := everything, []any{n.Offset(), n.Limit()}
	switch {
	case search.HasTrigram(q):
		found, args = strings.Replace(matching, "[index]", byTrigrams, 1), append(args, search.Pattern(q))
	case q != "":
		found, args = strings.Replace(matching, "[index]", byGrams, 1), append(args, search.Pattern(q), q)
	}
	return prepared.PlanPerValue + "WITH" + found + cardsOfPage, args
}
