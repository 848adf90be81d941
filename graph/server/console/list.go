package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/platform/fault"
)

// listData holds the data of a list's page.
type listData struct {
	*section
	Columns []column
	Rows    []row
	// Total is empty if the list has none.
	Total string
	// Filtered: not everything is asked for. Opened: something was chosen beside the search.
	Filtered, Opened bool
	Filters          []filter
	Sorts            []option
	// Newer and Older lead to the pages beside this one; empty for none.
	Newer, Older string
	// All leads to the list without its filters.
	All string
	// CSV and JSON lead to everything that was asked for; Export is where the form of a private list goes, which asks why.
	CSV, JSON, Export string
	Procedures        []*procedure
	Q                 string
	// Choices are the columns to choose from; Widened: others than usual are chosen. Unknown are chosen names of no column.
	Choices []option
	Widened bool
	Unknown []string
}

type column struct {
	Title string
	// Number: aligned at its end.
	Number bool
}

type row struct {
	Name, Link string
	Cells      []value
}

type option struct {
	Value, Label string
	Chosen       bool
	Hint         string
}

// list shows a page of a connection. Faults: invalid_pagination, invalid_input, service_unavailable.
func (s *console) list(w http.ResponseWriter, r *http.Request, listed *section) error {
	asked := readListing(listed, r.URL.Query(), zoneOf(r))
	if format := asked.sent.Get("format"); format != "" {
		if listed.Private || !slices.Contains(exportFormats, format) {
			return fault.New(fault.NotFound)
		}
		return s.export(w, r, asked, format, maxExport)
	}
	sent, reversed := asked.address(), asked.reversed
	if len(asked.sent[columnsField]) > 1 && len(asked.unknown) == 0 { // as its form sends it
		return seeOther(w, pathWith(listed.Path, sent))
	}
	data := listData{
		section: listed, Q: sent.Get("q"), Procedures: proceduresOfList(listed), Filters: asked.filters, Sorts: sortsOf(listed, sent.Get("sort")),
		Filtered: asked.filtered(), Unknown: asked.unknown, Choices: columnOptions(listed, asked.columns), Widened: sent.Get(columnsField) != "",
	}
	data.Opened = sent.Get("sort") != "" || slices.ContainsFunc(data.Filters, func(f filter) bool { return f.Value != "" })
	answer, err := s.ask(r.Context(), listQuery(listed, asked.columns), asked.variables)
	if err != nil {
		return err
	}
	found := object(answer, listed.Field)
	definition := schema.Types[listed.Type]
	for _, name := range asked.columns {
		field := definition.Fields.ForName(name)
		data.Columns = append(data.Columns, column{human(name), slices.Contains([]string{"Int", "Int64"}, field.Type.Name())})
	}
	for _, edge := range objects(found, "edges") {
		node := object(edge, "node")
		correctState(listed.Type, node)
		link := entityLink(listed.Type, node)
		made := row{Name: link.Text, Link: link.Link}
		for _, name := range asked.columns {
			made.Cells = append(made.Cells, newValue(listed.Type, definition.Fields.ForName(name), node[name], true))
		}
		data.Rows = append(data.Rows, made)
	}
	if reversed {
		slices.Reverse(data.Rows)
	}
	if listed.Type == "Order" && sent.Get(attentionFilter) != "" {
		if err := s.addWhy(r.Context(), &data, objects(found, "edges"), reversed); err != nil {
			return err
		}
	}
	var cells []*value
	for _, made := range data.Rows {
		for i := range made.Cells {
			cells = append(cells, &made.Cells[i])
		}
	}
	if err := s.nameIDs(r.Context(), cells); err != nil {
		return err
	}
	if total, ok := found["totalCount"]; ok {
		data.Total = fmt.Sprint(total)
	}
	if listed.Private {
		data.Export = pathWith(listed.Path+exportSuffix, asked.whole())
	} else {
		data.CSV, data.JSON = exportPath(asked, "csv"), exportPath(asked, "json")
	}
	data.All = pathWith(listed.Path, url.Values{columnsField: sent[columnsField]})
	data.Newer, data.Older = beside(listed, sent, object(found, "pageInfo"), reversed)
	return s.show(w, r, view{template: listPage, Title: listed.Title, Path: listed.Path, Live: []string{listed.Table}, Data: data})
}

// addWhy adds a column that says why each order needs attention and who can end it.
func (s *console) addWhy(ctx context.Context, data *listData, edges []map[string]any, reversed bool) error {
	ids := make([]string, 0, len(edges))
	for _, edge := range edges {
		ids = append(ids, textOf(object(edge, "node"), "id"))
	}
	if reversed {
		slices.Reverse(ids)
	}
	why, err := s.whyOf(ctx, ids)
	if err != nil {
		return err
	}
	data.Columns = slices.Insert(data.Columns, 0, column{Title: "Why, and who can end it"})
	for i, id := range ids {
		text := strings.Join(append(slices.Clone(why[id].Stuck), why[id].Ends...), " ")
		data.Rows[i].Cells = slices.Insert(data.Rows[i].Cells, 0, value{Kind: "text", Text: text, Long: true})
	}
	return nil
}

// listQuery is the document that asks for columns of a page of a section.
func listQuery(listed *section, columns []string) string {
	definition := schema.Types[listed.Type]
	fields := make([]*ast.FieldDefinition, 0, len(columns))
	for _, name := range columns {
		fields = append(fields, definition.Fields.ForName(name))
	}
	total := "totalCount"
	if listed.Uncounted {
		total = ""
	}
	return fmt.Sprintf(`query ($first: Int, $after: Cursor, $last: Int, $before: Cursor, $where: %[2]sWhereInput, $orderBy: [%[2]sOrder!]) {
		%[1]s(first: $first, after: $after, last: $last, before: $before, where: $where, orderBy: $orderBy) {
			%[3]s edges { node { id %[4]s %[5]s } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
		} }`, listed.Field, listed.Type, total, listed.Name, selections(fields, 0))
}
