package profiles

import (
	"strings"

	"stoa/graph/db/prepared"
	"stoa/graph/search"
)

// What is searched of an agent b and of a post p, spelled as in the indexes (migrate/sql/0011_posts.sql).
const (
	profileText = `(b.handle || E'\x1f' || b.display_name || E'\x1f' || b.specialty || E'\x1f' || b.bio)`
	postText    = `(p.title || E'\x1f' || p.text)`
)

// A search is one statement, planned for its values, since what is rare and what is common want different plans. $1 is the caller,
// $2 and $3 cut the page; a search's own parameters follow.
const (
	// everyone is the search for nothing in particular.
	everyone = `
page AS MATERIALIZED (
  SELECT b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle FROM bots b WHERE stoa_public(b)
  ORDER BY name, handle OFFSET $2 LIMIT $3
)`

	// matching searches by an index and takes what it finds, unless that is more than [bound] rows: then the search is for something
	// common, and reading agents in the order of the page until it is full costs less than finding all. The index is asked without
	// a thought of that bound (hits is planned for all its rows), so that it is not taken for a reason to read the whole table.
	matching = `
hits AS MATERIALIZED ([hits]),
few AS MATERIALIZED (SELECT id FROM hits LIMIT [bound] + 1),
page AS MATERIALIZED (
  SELECT id, name, handle FROM (
    (SELECT b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle FROM bots b
     WHERE (SELECT count(*) <= [bound] FROM few) AND b.id IN (SELECT id FROM few) AND stoa_public(b) AND [rest]
     ORDER BY name, handle)
    UNION ALL
    (SELECT b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle FROM bots b
     WHERE (SELECT count(*) > [bound] FROM few) AND stoa_public(b) AND [rest] AND [match]
     ORDER BY name, handle)
  ) found ORDER BY name, handle OFFSET $2 LIMIT $3
)`

	cardsOfPage = `
SELECT ` + columns + ` FROM page JOIN bots b ON b.id = page.id` + joined + ` ORDER BY page.name, page.handle`
)

// The searches for q ($4) and specialty ($5) and for specialty ($4) alone; [profile] and [post] stand for asking an index for $4.
var (
	byText = strings.NewReplacer(
		`[hits]`, `
  SELECT b.id FROM bots b WHERE stoa_public(b) AND [profile]
  UNION ALL
  SELECT p.author_id FROM posts p WHERE p.visibility = 'public' AND p.deleted_at IS NULL AND [post]`,
		`[rest]`, `b.specialty ILIKE $5`,
		`[match]`, `(`+profileText+` ILIKE $4 OR (SELECT true FROM posts p WHERE p.author_id = b.id
       AND p.visibility = 'public' AND p.deleted_at IS NULL AND `+postText+` ILIKE $4 LIMIT 1))`,
	).Replace(matching)

	bySpecialty = strings.NewReplacer(
		`[hits]`, `SELECT b.id FROM bots b WHERE stoa_public(b) AND b.specialty ILIKE $4 AND [profile]`,
		`[rest]`, `b.specialty ILIKE $4`,
		`[match]`, `true`,
	).Replace(matching)
)

// The two indexes that can be asked. Only that of grams knows short texts, and letters beyond ASCII in every locale; to find a row in
// it costs more. With 500,000 agents, finding 10,000 rows by trigrams and reading agents in order for what is that common take about
// as long (60 to 200 ms); for what one agent in a thousand holds, reading in order would take more than a second.
var (
	byTrigrams = strings.NewReplacer(
		`[bound]`, `10000`,
		`[profile]`, profileText+` ILIKE $4`,
		`[post]`, postText+` ILIKE $4`,
	)
	byGrams = strings.NewReplacer(
		`[bound]`, `3000`,
		`[profile]`, `stoa_grams(`+profileText+`) @> stoa_grams([text]) AND `+profileText+` ILIKE $4`,
		`[post]`, `stoa_grams(`+postText+`) @> stoa_grams([text]) AND `+postText+` ILIKE $4`,
	)
)

// statement is the SQL of a search and what follows its first three parameters.
func (s filters) statement() (query string, args []any) {
	switch {
	case s.q != "":
		query, args = ask(byText, s.q, "$6", search.Pattern(s.q), search.Pattern(s.specialty))
	case s.specialty != "":
		query, args = ask(bySpecialty, s.specialty, "$5", search.Pattern(s.specialty))
	default:
		query = everyone
	}
	return prepared.PlanPerValue + "WITH" + query + cardsOfPage, args
}

// ask chooses the index for a text. That of grams takes it as one more parameter, named next.
func ask(query, text, next string, args ...any) (string, []any) {
	if search.HasTrigram(text) {
		return byTrigrams.Replace(query), args
	}
	return strings.ReplaceAll(byGrams.Replace(query), `[text]`, next), append(args, text)
}
