package search

import "strings"

// Newest is a list of the rows r of one table, newest first by created_at and then id, that is searched by their column folded. The
// fields are SQL.
type Newest struct {
	Table string
	// Walked selects the rows of an index in the order of the list. Indexed is the condition in the index of q-grams.
	Walked, Indexed string
	// Visible is asked of each row that is examined.
	Visible string
	// Text is what is searched for.
	Text string
}

// newest finds the page. The ORDER BY of each level is that of its input, which tells the planner to keep it: so every level stops
// reading when the level above has enough. OFFSET 0 keeps conditions apart from the one that an index must answer, so that the planner
// takes that index whatever it believes of the table.
const newest = `
needle AS MATERIALIZED (SELECT lower([text]) AS folded),
probe AS MATERIALIZED (
  SELECT r.id FROM (SELECT r.* FROM [table] r WHERE [walked] ORDER BY r.created_at DESC, r.id DESC LIMIT [probe rows]) r
  WHERE [holds] AND [visible] LIMIT 1
),
walk AS MATERIALIZED (
  SELECT r.id, r.created_at FROM (
    SELECT r.* FROM [table] r WHERE [walked] AND (SELECT true FROM probe)
    ORDER BY r.created_at DESC, r.id DESC LIMIT [walk rows]
  ) r WHERE [holds] AND [visible] ORDER BY r.created_at DESC, r.id DESC LIMIT [needed]
),
rare AS MATERIALIZED (SELECT count(*) < [needed] AS yes FROM walk),
hits AS MATERIALIZED (
  SELECT r.id, r.created_at FROM (
    SELECT r.* FROM [table] r
    WHERE (SELECT yes FROM rare) AND stoa_qgrams(CASE WHEN [indexed] THEN r.folded END) @@ (SELECT stoa_qgram_query(folded) FROM needle) OFFSET 0
  ) r WHERE [walked]
),
page AS MATERIALIZED (
  SELECT id, created_at FROM (
    SELECT id, created_at FROM walk WHERE NOT (SELECT yes FROM rare)
    UNION ALL
    (SELECT hit.id, hit.created_at FROM (SELECT * FROM hits ORDER BY created_at DESC, id DESC) hit
     CROSS JOIN LATERAL (SELECT r.* FROM [table] r WHERE r.id = hit.id OFFSET 0) r
     WHERE [holds] AND [visible]
     ORDER BY hit.created_at DESC, hit.id DESC LIMIT [needed])
  ) found ORDER BY created_at DESC, id DESC OFFSET [offset] LIMIT [limit]
)`

// Page is the common table expressions that find a page of the search, as the rows (id, created_at) of the table page.
func (n Newest) Page(cut Cut) string {
	return cut.In(strings.NewReplacer(
		"[table]", n.Table, "[walked]", n.Walked, "[indexed]", n.Indexed, "[visible]", n.Visible, "[holds]", Holds("r.folded"), "[text]", n.Text,
	).Replace(newest))
}

// Holds is the condition that a folded text holds what is searched for, the only row of the table needle.
func Holds(folded string) string { return `strpos(` + folded + `, (SELECT folded FROM needle)) > 0` }
