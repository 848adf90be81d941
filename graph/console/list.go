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
	"stoa/graph/platform/pages"
)

// columnsField is the parameter of an address that chooses the columns of a list: names, apart by commas or sent one by one.
const columnsField = "columns"

// pageSize is the number of rows of a list; maxUnknownColumns how many names of no column a page mentions.
const pageSize, maxUnknownColumns = 25, 5

// listing holds what an address asks of a list.
type listing struct {
	*section
	sent    url.Values
	filters []filter
	// columns are those that were chosen, or the usual ones; unknown are chosen names of no column.
	columns, unknown []string
	// variables are those of listQuery; reversed: the page is read backwards.
	variables map[string]any
	reversed  bool
}

// readListing reads an address. Without its own order a list is read backwards along the ids, which begin with the time: the newest
// first, off the primary key.
func readListing(listed *section, sent url.Values) *listing {
	l := &listing{section: listed, sent: sent, filters: filtersOf(listed, sent), variables: map[string]any{}, reversed: sent.Get("sort") == ""}
	l.chooseColumns()
	if where := conditions(listed, l.filters, sent.Get("q")); len(where) > 0 {
		l.variables["where"] = map[string]any{"and": where}
	}
	if sort := sent.Get("sort"); sort != "" {
		direction := "ASC"
		if name, descending := strings.CutPrefix(sort, "-"); descending {
			sort, direction = name, "DESC"
		}
		l.variables["orderBy"] = []any{map[string]any{"field": sort, "direction": direction}}
	}
	l.ask(pageSize, sent.Get("after"), sent.Get("before"))
	return l
}

// ask sets the variables to a page of some rows after or before a cursor, in the order of the list.
func (l *listing) ask(rows int, after, before string) {
	size, cursor, at := "first", "after", after
	if l.reversed != (before != "") {
		size = "last"
	}
	if before != "" {
		at = before
	}
	if size == "last" {
		cursor = "before"
	}
	for _, name := range []string{"first", "after", "last", "before"} {
		delete(l.variables, name)
	}
	l.variables[size] = rows
	if at != "" {
		l.variables[cursor] = at
	}
}

// columnsOf are the columns that a list may have beside the id and the name: the usual ones, then the rest.
func columnsOf(listed *section) []string {
	all := slices.Clone(listed.Columns)
	for _, field := range fieldsOf(schema.Types[listed.Type]) {
		if selection(field, 0) != "" && field.Name != "id" && field.Name != listed.Name && !slices.Contains(all, field.Name) {
			all = append(all, field.Name)
		}
	}
	return all
}

// chooseColumns takes the columns that the address chooses, in the order of columnsOf.
func (l *listing) chooseColumns() {
	known := columnsOf(l.section)
	named := strings.FieldsFunc(strings.Join(l.sent[columnsField], ","), func(r rune) bool { return r == ',' })
	for _, name := range known {
		if slices.Contains(named, name) {
			l.columns = append(l.columns, name)
		}
	}
	for _, name := range named {
		if !slices.Contains(known, name) && len(l.unknown) < maxUnknownColumns {
			l.unknown = append(l.unknown, pages.VisibleLine(pages.Line(name, shortLine)))
		}
	}
	if len(l.columns) == 0 {
		l.columns = l.Columns
	}
}

// address is the query of an address that asks for the same.
func (l *listing) address() url.Values {
	same := url.Values{}
	for name, values := range l.sent {
		if values[0] != "" && name != columnsField {
			same.Set(name, values[0])
		}
	}
	if !slices.Equal(l.columns, l.Columns) {
		same.Set(columnsField, strings.Join(l.columns, ","))
	}
	return same
}

// whole is the address of everything that is asked for, rather than a page of it, with another parameter.
func (l *listing) whole(name, value string) url.Values {
	all := l.address()
	all.Del("after")
	all.Del("before")
	if value != "" {
		all.Set(name, value)
	}
	return all
}

// pathWith is a path with a query.
func pathWith(path string, query url.Values) string {
	if encoded := query.Encode(); encoded != "" {
		return path + "?" + encoded
	}
	return path
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

// listPage is a page of a list, in its order.
type listPage struct {
	nodes []map[string]any
	// total is nil if the list is not counted.
	total any
	// first and last are the cursors of the page; hasNewer and hasOlder report whether there is more on that side.
	first, last        string
	hasNewer, hasOlder bool
}

// read reads the page that is asked for, with some columns. Faults: those of the connection.
func (s *console) read(ctx context.Context, l *listing, columns []string) (listPage, error) {
	answer, err := s.ask(ctx, listQuery(l.section, columns), l.variables)
	if err != nil {
		return listPage{}, err
	}
	found := object(answer, l.Field)
	info := object(found, "pageInfo")
	p := listPage{
		total: found["totalCount"], first: textOf(info, "startCursor"), last: textOf(info, "endCursor"),
		hasNewer: info["hasPreviousPage"] == true, hasOlder: info["hasNextPage"] == true,
	}
	for _, edge := range objects(found, "edges") {
		p.nodes = append(p.nodes, object(edge, "node"))
	}
	if l.reversed {
		slices.Reverse(p.nodes)
		p.first, p.last, p.hasNewer, p.hasOlder = p.last, p.first, p.hasOlder, p.hasNewer
	}
	// A connection knows only what lies in the direction in which it was read.
	p.hasNewer, p.hasOlder = p.hasNewer || l.sent.Get("after") != "", p.hasOlder || l.sent.Get("before") != ""
	return p, nil
}

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
	asked := readListing(listed, r.URL.Query())
	if format := asked.sent.Get("format"); format != "" {
		if listed.Private || !slices.Contains(exportFormats, format) {
			return fault.New(fault.NotFound)
		}
		return s.export(w, r, asked, format, maxExport)
	}
	sent := asked.address()
	if len(asked.sent[columnsField]) > 1 && len(asked.unknown) == 0 { // as its form sends it
		return seeOther(w, pathWith(listed.Path, sent))
	}
	found, err := s.read(r.Context(), asked, asked.columns)
	if err != nil {
		return err
	}
	data := listData{
		section: listed, Q: sent.Get("q"), Procedures: proceduresAt(listed.Path, false), Filters: asked.filters, Sorts: sortsOf(listed, sent.Get("sort")),
		Filtered: asked.variables["where"] != nil, Unknown: asked.unknown, Widened: sent.Get(columnsField) != "",
		All: pathWith(listed.Path, url.Values{columnsField: sent[columnsField]}),
	}
	data.Opened = sent.Get("sort") != "" || slices.ContainsFunc(data.Filters, func(f filter) bool { return f.Value != "" })
	for _, name := range columnsOf(listed) {
		data.Choices = append(data.Choices, option{Value: name, Label: human(name), Chosen: slices.Contains(asked.columns, name)})
	}
	if found.total != nil {
		data.Total = fmt.Sprint(found.total)
	}
	if listed.Private {
		data.Export = pathWith(listed.Path+exportSuffix, asked.whole("", ""))
	} else {
		data.CSV, data.JSON = pathWith(listed.Path, asked.whole("format", "csv")), pathWith(listed.Path, asked.whole("format", "json"))
	}
	if found.hasNewer && found.first != "" {
		data.Newer = pathWith(listed.Path, asked.whole("before", found.first))
	}
	if found.hasOlder && found.last != "" {
		data.Older = pathWith(listed.Path, asked.whole("after", found.last))
	}
	if err := s.fill(r.Context(), &data, found.nodes, asked); err != nil {
		return err
	}
	return s.show(w, r, view{template: "list", Title: listed.Title, Path: listed.Path, Live: true, Data: data})
}

// fill makes the columns and rows of a list. Of orders that need attention the first column says why, and who can end them.
func (s *console) fill(ctx context.Context, data *listData, nodes []map[string]any, asked *listing) error {
	definition := schema.Types[data.Type]
	why := map[string]map[string]any{}
	withWhy := data.Type == "Order" && asked.sent.Get(attentionFilter) != ""
	if withWhy {
		ids := make([]any, 0, len(nodes))
		for _, node := range nodes {
			ids = append(ids, node["id"])
		}
		answer, err := s.ask(ctx, `query ($ids: [ID!]!) { trades(orderIds: $ids) `+tradeFields+` }`, map[string]any{"ids": ids})
		if err != nil {
			return err
		}
		for _, one := range objects(answer, "trades") {
			why[textOf(one, "id")] = one
		}
		data.Columns = append(data.Columns, column{Title: "Why, and who can end it"})
	}
	for _, name := range asked.columns {
		field := definition.Fields.ForName(name)
		data.Columns = append(data.Columns, column{human(name), slices.Contains([]string{"Int", "Int64"}, field.Type.Name())})
	}
	var cells []*value
	for _, node := range nodes {
		data.correct(node)
		link := entityLink(data.Type, node)
		made := row{Name: link.Text, Link: link.Link}
		if withWhy {
			one := why[textOf(node, "id")]
			made.Cells = append(made.Cells, value{Kind: "text", Text: strings.Join(append(texts(one, "stuck"), texts(one, "ends")...), " "), Long: true})
		}
		for _, name := range asked.columns {
			made.Cells = append(made.Cells, newValue(data.Type, definition.Fields.ForName(name), node[name], true))
		}
		for i := range made.Cells {
			cells = append(cells, &made.Cells[i])
		}
		data.Rows = append(data.Rows, made)
	}
	return s.nameIDs(ctx, cells)
}
