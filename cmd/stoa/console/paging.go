package console

import (
	"stoa/cmd/stoa/console/client"
)

// maxPage is how many rows the server gives at once.
const maxPage = 100

// paging is part of every command that lists.
type paging struct {
	Limit int  `default:"20" env:"-" help:"How many rows."`
	All   bool `env:"-" help:"All rows."`
}

// Validate is kong's to call.
func (p paging) Validate() error {
	if p.Limit < 1 {
		return &UsageError{"--limit must be at least 1"}
	}
	return nil
}

// edge is one of a generated connection's.
type edge[Row any] interface{ GetNode() *Row }

// connection is a page of generated rows.
type connection[Edge any] struct {
	edges []Edge
	end   client.PageEnd
}

// collect reads pages until there are as many rows as were asked for, or no more.
func collect[Row any, Edge edge[Row]](p paging, page func(first int, after *string) (connection[Edge], error)) ([]Row, error) {
	rows := []Row{} // none is [] in JSON
	var after *string
	for p.All || len(rows) < p.Limit {
		first := maxPage
		if !p.All {
			first = min(first, p.Limit-len(rows))
		}
		got, err := page(first, after)
		if err != nil {
			return nil, err
		}
		for _, edge := range got.edges {
			rows = append(rows, *edge.GetNode())
		}
		if !got.end.HasNextPage || got.end.EndCursor == nil {
			break
		}
		after = got.end.EndCursor
	}
	return rows, nil
}
