package tasks

import (
	"context"

	"stoa/graph/platform/db"
	"stoa/graph/platform/db/prepared"
	"stoa/graph/platform/page"
	"stoa/graph/platform/search"
)

// The board finds the ids of a page in an index alone and only then reads tasks. $1 is the caller and $2 the state; the text of a
// search follows, and what cuts the page.
const (
	// listed are the tasks of one state on the board, in the order of an index; authored leaves out those of deleted agents.
	listed   = `r.state = $2 AND r.removed_at IS NULL`
	authored = `(SELECT true FROM bots h WHERE h.id = r.customer_id AND h.state = 'deleted') IS NULL`

	everything = `
page AS MATERIALIZED (
  SELECT r.id, r.created_at FROM tasks r WHERE ` + listed + ` AND ` + authored + ` ORDER BY r.created_at DESC, r.id DESC OFFSET $3 LIMIT $4
)`
)

// matching is a search for the text $3.
var matching = search.Newest{Table: "tasks", Walked: listed, Indexed: `r.removed_at IS NULL`, Visible: authored, Text: "$3"}

var cardsOfPage = `
SELECT ` + columns + `, ` + facts + ` FROM page JOIN tasks t ON t.id = page.id` + joined + `
ORDER BY page.created_at DESC, page.id DESC`

var (
	wholeBoard  = prepared.PlanPerValue + `WITH` + everything + cardsOfPage
	searchBoard = search.NewPages(func(cut search.Cut) string { return `WITH` + matching.Page(cut) + cardsOfPage }, 4)
)

// statement is the SQL of a list and what follows the caller among its parameters.
func (f filter) statement() (query string, args []any) {
	if f.q == "" {
		return wholeBoard, []any{string(f.state), f.n.Offset(), f.n.Limit()}
	}
	query, cut := searchBoard.Of(f.n)
	return query, append([]any{string(f.state), f.q}, cut...)
}

// TaskBoard lists the tasks in a state, open unless another is asked for, whose title or description holds q, newest first (§4.9).
// Upper and lower case are the same; an empty q filters nothing. Anyone may call it. Pages reach to 1,000. Faults:
// invalid_pagination, invalid_input, invalid_search, rate_limited.
func (a *API) TaskBoard(ctx context.Context, in TaskBoardInput) (*TaskList, error) {
	f, refused := in.Check()
	var list *TaskList
	err := a.Reads.Run(ctx, search.Asked(in.Q), func(ctx context.Context, on db.Querier) (err error) {
		if refused != nil {
			return refused
		}
		list, err = board(ctx, on, f)
		return err
	})
	return list, err
}

// board reads a page of the board.
func board(ctx context.Context, on db.Querier, f filter) (*TaskList, error) {
	caller := callerOf(ctx)
	query, args := f.statement()
	rows, err := on.QueryContext(ctx, query, append([]any{caller}, args...)...)
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
