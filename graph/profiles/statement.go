package profiles

import (
	"strings"

	"stoa/graph/platform/db/prepared"
	"stoa/graph/platform/search"
)

// In every statement $1 is the caller.
const (
	// everyone is the search for nothing in particular; $2 and $3 cut the page.
	everyone = `
page AS MATERIALIZED (
  SELECT b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle FROM bots b WHERE stoa_public(b)
  ORDER BY name, handle OFFSET $2 LIMIT $3
)`

	// matching searches as search.Newest does, in the order of names. $2 is the text to find and $3 what the specialty must hold, too. What
	// is examined are lines, which say whether they hold what is searched for: the text of an agent, and that of each of its public posts.
	// [lines] are those of an agent b, [hits] what the index finds, with the post that it was found in.
	matching = `
needle AS MATERIALIZED (SELECT lower($2::text) AS folded, lower($3::text) AS specialty),
probe AS MATERIALIZED (
  SELECT id FROM (
    SELECT b.id, line.found FROM (
      SELECT * FROM bots b WHERE stoa_public(b) ORDER BY b.display_name COLLATE "C", b.handle COLLATE "C" LIMIT [probe rows]
    ) b CROSS JOIN LATERAL ([lines]) line ORDER BY b.display_name COLLATE "C", b.handle COLLATE "C" LIMIT [probe rows]
  ) examined WHERE found LIMIT 1
),
walk AS MATERIALIZED (
  SELECT DISTINCT ON (name, handle) id, name, handle FROM (
    SELECT b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle, line.found
    FROM (
      SELECT * FROM bots b WHERE stoa_public(b) AND (SELECT true FROM probe)
      ORDER BY b.display_name COLLATE "C", b.handle COLLATE "C" LIMIT [walk rows]
    ) b CROSS JOIN LATERAL ([lines]) line ORDER BY name, handle LIMIT [walk rows]
  ) examined WHERE found ORDER BY name, handle LIMIT [needed]
),
rare AS MATERIALIZED (SELECT count(*) < [needed] AS yes FROM walk),
hits AS MATERIALIZED ([hits]),
page AS MATERIALIZED (
  SELECT id, name, handle FROM (
    SELECT id, name, handle FROM walk WHERE NOT (SELECT yes FROM rare)
    UNION ALL
    (SELECT DISTINCT ON (name, handle) id, name, handle FROM (
       SELECT hits.post_id, b.id, b.display_name COLLATE "C" AS name, b.handle COLLATE "C" AS handle FROM hits
       CROSS JOIN LATERAL (SELECT b.*, stoa_public(b) AS seen FROM bots b WHERE b.id = hits.id OFFSET 0) b
       WHERE b.seen AND [fits] ORDER BY name, handle
     ) hit
     CROSS JOIN LATERAL ([text of a hit]) text
     ORDER BY name, handle LIMIT [needed])
  ) found ORDER BY name, handle OFFSET [offset] LIMIT [limit]
)`

	cardsOfPage = `
SELECT ` + columns + ` FROM page JOIN bots b ON b.id = page.id` + joined + `
ORDER BY page.name, page.handle`

	// fits tells whether the specialty of an agent b holds what it must; published are the posts p that everyone may see where they see
	// their author.
	fits      = `strpos(lower(b.specialty), (SELECT specialty FROM needle)) > 0`
	published = `p.visibility = 'public' AND p.deleted_at IS NULL`
)

// The two searches: for a text, with or without a specialty; and for a specialty alone, which looks at agents only.
var (
	byText = search.NewPages(with(map[string]string{
		"[lines]": `
      SELECT ` + fits + ` AND ` + search.Holds("b.folded") + ` AS found
      UNION ALL
      SELECT ` + search.Holds("p.folded") + ` FROM posts p WHERE p.author_id = b.id AND ` + published + ` AND ` + fits,
		"[hits]": `
  SELECT b.id, NULL::uuid AS post_id FROM bots b WHERE (SELECT yes FROM rare) AND ` + indexed("b.folded", "folded") + `
  UNION ALL
  SELECT p.author_id, p.id FROM posts p WHERE (SELECT yes FROM rare) AND ` + indexed("CASE WHEN "+published+" THEN p.folded END", "folded"),
		"[text of a hit]": `
       SELECT FROM bots b WHERE hit.post_id IS NULL AND b.id = hit.id AND ` + search.Holds("b.folded") + `
       UNION ALL
       SELECT FROM posts p WHERE p.id = hit.post_id AND ` + search.Holds("p.folded"),
	}), 4)

	bySpecialty = search.NewPages(with(map[string]string{
		"[lines]":         `SELECT ` + fits + ` AS found`,
		"[hits]":          `SELECT b.id, NULL::uuid AS post_id FROM bots b WHERE (SELECT yes FROM rare) AND ` + indexed("b.folded", "specialty"),
		"[text of a hit]": `SELECT true`,
	}), 4)
)

// with makes a search of its parts.
func with(parts map[string]string) func(search.Cut) string {
	statement := strings.Replace(matching, "[fits]", fits, 1)
	for name, part := range parts {
		statement = strings.ReplaceAll(statement, name, part)
	}
	return func(cut search.Cut) string { return "WITH" + cut.In(statement) + cardsOfPage }
}

// indexed asks the index of q-grams of a folded text for a column of needle.
func indexed(folded, column string) string {
	return `stoa_qgrams(` + folded + `) @@ (SELECT stoa_qgram_query(` + column + `) FROM needle)`
}

var anyone = prepared.PlanPerValue + "WITH" + everyone + cardsOfPage

// statement is the SQL of a search and what follows the caller among its parameters.
func (s filters) statement() (query string, args []any) {
	pages := byText
	switch {
	case s.q == "" && s.specialty == "":
		return anyone, []any{s.n.Offset(), s.n.Limit()}
	case s.q == "":
		pages = bySpecialty
	}
	query, cut := pages.Of(s.n)
	return query, append([]any{s.q, s.specialty}, cut...)
}
