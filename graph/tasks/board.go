package tasks

import (
	"context"
	"strings"

	"stoa/graph/db/prepared"
	"stoa/graph/page"
	"stoa/graph/search"
)

// searched is the text of a task t, spelled as in the indexes (migrate/sql/0012_tasks.sql).
const searched = `(t.title || E'\x1f' || t.description)`

// The board is one statement, planned for its values, since pages and searches of different depth and rarity want different plans.
// It finds the ids of a page in an index alone and only then reads tasks. $1 is the caller, $2 and $3 cut the page, $4 is the
// state, $5 the pattern of a search and $6 its text.
const (
	// listed are the tasks of one state on the board.
	listed = `t.state = $4 AND t.removed_at IS NULL AND NOT EXISTS (SELECT FROM bots h WHERE h.id = t.customer_id AND h.state = 'deleted')`

	everything = `
page AS MATERIALIZED (
  SELECT t.id, t.created_at FROM tasks t WHERE ` + listed + ` ORDER BY t.created_at DESC, t.id DESC OFFSET $2 LIMIT $3
)`

	// matching takes what an index finds, unless that is more than 1000 tasks: then the search is for something common, and reading
	// the board until the page is full costs less. hits is planned for all its rows, without a thought of that bound.
	matching = `
hits AS MATERIALIZED (SELECT t.id FROM tasks t WHERE t.removed_at IS NULL AND [found]),
few AS MATERIALIZED (SELECT id FROM hits LIMIT 1001),
page AS MATERIALIZED (
  SELECT id, created_at FROM (
    (SELECT t.id, t.created_at FROM tasks t
     WHERE (SELECT count(*) <= 1000 FROM few) AND t.id IN (SELECT id FROM few) AND ` + listed + `
     ORDER BY t.created_at DESC, t.id DESC)
    UNION ALL
    (SELECT t.id, t.created_at FROM tasks t
     WHERE (SELECT count(*) > 1000 FROM few) AND ` + listed + ` AND ` + searched + ` ILIKE $5
     ORDER BY t.created_at DESC, t.id DESC)
  ) found ORDER BY created_at DESC, id DESC OFFSET $2 LIMIT $3
)`
)

var cardsOfPage = `
SELECT ` + columns + `, ` + facts + ` FROM page JOIN tasks t ON t.id = page.id` + joined + ` ORDER BY page.created_at DESC, page.id DESC`

// The three statements. Only the index of grams knows short texts, and letters beyond ASCII in every locale.
var (
	whole      = prepared.PlanPerValue + `WITH` + everything + cardsOfPage
	byTrigrams = prepared.PlanPerValue + `WITH` + strings.ReplaceAll(matching, `[found]`, searched+` ILIKE $5`) + cardsOfPage
	byGrams    = prepared.PlanPerValue + `WITH` +
		strings.ReplaceAll(matching, `[found]`, `stoa_grams(`+searched+`) @> stoa_grams($6) AND `+searched+` ILIKE $5`) + cardsOfPage
)

// statement is the SQL of a list and what follows the caller among its parameters.
func (f filter) statement() (query string, args []any) {
	args = []any{f.n.Offset(), f.n.Limit(), string(f.state)}
	switch {
	case f.q == "":
		return whole, args
	case search.HasTrigram(f.q):
		return byTrigrams, append(args, search.Pattern(f.q))
	default:
		return byGrams, append(args, search.Pattern(f.q), f.q)
	}
}

// TaskBoard lists the tasks in a state, open unless another is asked for, whose title or description holds q, newest first (§4.9).
// Upper and lower case are the same; an empty q filters nothing. Anyone may call it. Pages reach to 1,000. Faults:
// invalid_pagination, invalid_input, invalid_search.
func (a *API) TaskBoard(ctx context.Context, in TaskBoardInput) (*TaskList, error) {
	f, err := in.Check()
	if err != nil {
		return nil, err
	}
	caller := callerOf(ctx)
	query, args := f.statement()
	rows, err := a.DB.SQL.QueryContext(ctx, query, append([]any{caller}, args...)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []*situation
	for rows.Next() {
		s := &situation{caller: caller}
		if err := rows.Scan(s.targets()...); err != nil {
			return nil, err
		}
		found = append(found, s)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	shown, meta := page.Cut(f.n, found)
	list := &TaskList{Tasks: make([]*Card, len(shown)), Meta: meta}
	for i, s := range shown {
		list.Tasks[i] = newCard(s)
	}
	return list, nil
}
