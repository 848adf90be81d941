package operatorcli

import (
	"stoa/cmd/stoa/operatorcli/client"
)

// maxPage is the largest page of the server.
const maxPage = 100

// paging holds the flags of every command that lists.
type paging struct {
	Limit int  `default:"20" env:"-" help:"How many rows."`
	All   bool `env:"-" help:"All rows."`
}

// Validate implements kong's validation.
func (p paging) Validate() error {
	if p.Limit < 1 {
		return &UsageError{"--limit must be at least 1"}
	}
	return nil
}

// edge is an edge of a generated connection.
type edge[Row any] interface{ GetNode() *Row }

// connection is one page of a generated connection.
type connection[Edge any] struct {
	edges []Edge
	end   client.PageEnd
}

// collect reads pages until it has as many rows as were asked for, or all.
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
