package console

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/operator"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/pages"
)

// columnsField is the query parameter with the columns of a list: names separated by commas, or repeated for each name.
const columnsField = "columns"

// pageSize is the number of rows of a list. A page mentions at most maxUnknownColumns unknown column names.
const pageSize, maxUnknownColumns = 25, 5

// listing is a request for a page of a list, with that page.
type listing struct {
	*Section
	sent    url.Values
	Filters []*field
	// columns are the chosen columns, or the default columns; Unknown are chosen names without a column.
	columns, Unknown []string
	// variables are the variables of listQuery; reversed is true if the page is read backwards.
	variables map[string]any
	reversed  bool

	listPage
	Titles []column
	Rows   []row
}

// listPage is a page of a list, in the list's order.
type listPage struct {
	nodes []map[string]any
	// Total is nil if the list is not counted.
	Total any
	// First and Last are the cursors of the page; HasNewer and HasOlder report whether more rows exist on that side.
	First, Last        string
	HasNewer, HasOlder bool
}

type column struct {
	Title string
	// Number is true if the column is aligned right.
	Number bool
}

// row is a row of a list, which begins with a link, or a row of a table in a result.
type row struct {
	value
	Cells []value
	// FileID is the id of a file that can be saved; empty for any other row.
	FileID string
	// Picture is the address of a file's picture, if everyone may see it.
	Picture string
}

type option struct {
	Value, Label string
	Chosen       bool
	Hint         string
}

// newListing makes a list of the rows that meet all conditions. sort is a field of the list's order, with a - for the highest first.
// If it is empty, the list is read backwards by primary key, so the newest come first: ids begin with the time.
func newListing(listed *Section, where []any, sort string) *listing {
	l := &listing{Section: listed, variables: map[string]any{}, reversed: sort == ""}
	if len(where) > 0 {
		l.variables["where"] = map[string]any{"and": where}
	}
	if sort != "" {
		direction := "ASC"
		if name, descending := strings.CutPrefix(sort, "-"); descending {
			sort, direction = name, "DESC"
		}
		l.variables["orderBy"] = []any{map[string]any{"field": sort, "direction": direction}}
	}
	return l
}

// readListing reads an address.
func readListing(listed *Section, sent url.Values) *listing {
	filters := filtersOf(listed, sent)
	l := newListing(listed, conditions(listed, filters, sent.Get("q")), sent.Get("sort"))
	l.sent, l.Filters = sent, filters
	known := columnsOf(listed)
	named := strings.FieldsFunc(strings.Join(sent[columnsField], ","), func(r rune) bool { return r == ',' })
	for _, name := range known {
		if slices.Contains(named, name) {
			l.columns = append(l.columns, name)
		}
	}
	for _, name := range named {
		if !slices.Contains(known, name) && len(l.Unknown) < maxUnknownColumns {
			l.Unknown = append(l.Unknown, pages.VisibleLine(pages.Line(name, shortLine)))
		}
	}
	if len(l.columns) == 0 {
		l.columns = l.Columns
	}
	return l
}

// columnsOf returns the possible columns of a list besides id and name: first the default columns, then the rest.
func columnsOf(listed *Section) []string {
	all := slices.Clone(listed.Columns)
	for _, field := range Fields(Schema.Types[listed.Type]) {
		if Selection(field, 0) != "" && field.Name != "id" && field.Name != listed.Name && !slices.Contains(all, field.Name) {
			all = append(all, field.Name)
		}
	}
	return all
}

// Ask runs an operation and returns its data, with numbers as json.Number.
type Ask func(ctx context.Context, document string, variables map[string]any) (map[string]any, error)

// read reads rows after or before a cursor, with some columns, in the order of the list. Faults: as the connection.
func (l *listing) read(ctx context.Context, ask Ask, columns []string, rows int, after, before string) error {
	size, cursor, at := "first", "after", after
	if before != "" {
		at = before
	}
	if l.reversed != (before != "") {
		size, cursor = "last", "before"
	}
	variables := map[string]any{size: rows, "where": l.variables["where"], "orderBy": l.variables["orderBy"]}
	if at != "" {
		variables[cursor] = at
	}
	answer, err := ask(ctx, listQuery(l.Section, columns), variables)
	if err != nil {
		return err
	}
	found := object(answer, l.Field)
	info := object(found, "pageInfo")
	l.listPage = listPage{
		Total: found["totalCount"], First: textOf(info, "startCursor"), Last: textOf(info, "endCursor"),
		HasNewer: info["hasPreviousPage"] == true, HasOlder: info["hasNextPage"] == true,
	}
	for _, edge := range objects(found, "edges") {
		l.nodes = append(l.nodes, object(edge, "node"))
	}
	if l.reversed {
		slices.Reverse(l.nodes)
		l.First, l.Last, l.HasNewer, l.HasOlder = l.Last, l.First, l.HasOlder, l.HasNewer
	}
	// A connection knows only whether more rows follow in the direction of reading.
	l.HasNewer, l.HasOlder = l.HasNewer || after != "", l.HasOlder || before != ""
	return nil
}

// eachPage reads all matching rows, a page at a time, until use returns false.
func (l *listing) eachPage(ctx context.Context, ask Ask, columns []string, rows int, use func() bool) error {
	for after := ""; ; after = l.Last {
		if err := l.read(ctx, ask, columns, rows, after, ""); err != nil {
			return err
		}
		if !use() || !l.HasOlder || len(l.nodes) == 0 {
			return nil
		}
	}
}

// Rows returns at most limit rows of a list that meet all conditions, with all columns; 0 means all. sort is as for newListing.
func Rows(ctx context.Context, ask Ask, listed Section, where []any, sort string, limit int) ([]map[string]any, error) {
	listed.Uncounted = true
	l := newListing(&listed, where, sort)
	rows := []map[string]any{} // no rows are [] in JSON
	err := l.eachPage(ctx, ask, columnsOf(&listed), min(cmp.Or(limit, operator.MaxPage), operator.MaxPage), func() bool {
		for _, node := range l.nodes {
			l.Correct(node)
		}
		rows = append(rows, l.nodes...)
		return limit == 0 || len(rows) < limit
	})
	return rows[:min(len(rows), cmp.Or(limit, len(rows)))], err
}

// listQuery is the document that asks for columns of a page of a section.
func listQuery(listed *Section, columns []string) string {
	definition := Schema.Types[listed.Type]
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
			%[3]s edges { node { id %[4]s %[5]s %[6]s } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
		} }`, listed.Field, listed.Type, total, listed.Name, selections(fields, 0), listed.Ended.time)
}

// Query returns the query parameters of this list with one parameter changed, for the first page.
func (l *listing) Query(name, value string) url.Values {
	same := url.Values{}
	for name, values := range l.sent {
		if values[0] != "" && name != columnsField && name != "after" && name != "before" {
			same.Set(name, values[0])
		}
	}
	if l.Widened() {
		same.Set(columnsField, strings.Join(l.columns, ","))
	}
	if value != "" {
		same.Set(name, value)
	}
	return same
}

// Link returns the path of Query.
func (l *listing) Link(name, value string) string { return pathWith(l.Path, l.Query(name, value)) }

// Export returns the path of the form that exports a private list.
func (l *listing) Export() string { return pathWith(l.Path+exportSuffix, l.Query("", "")) }

// All returns the path of the list without its filters.
func (l *listing) All() string {
	return pathWith(l.Path, url.Values{columnsField: l.Query("", "")[columnsField]})
}

// pathWith returns a path with a query.
func pathWith(path string, query url.Values) string {
	if encoded := query.Encode(); encoded != "" {
		return path + "?" + encoded
	}
	return path
}

// Widened reports whether the chosen columns differ from the default ones.
func (l *listing) Widened() bool { return !slices.Equal(l.columns, l.Columns) }

// Filtered reports whether the list has conditions.
func (l *listing) Filtered() bool { return l.variables["where"] != nil }

// Opened reports whether a filter or an order is chosen.
func (l *listing) Opened() bool {
	return l.sent.Get("sort") != "" || slices.ContainsFunc(l.Filters, func(f *field) bool { return f.Value != "" })
}

// Choices are the columns to choose from.
func (l *listing) Choices() (all []option) {
	for _, name := range columnsOf(l.Section) {
		all = append(all, option{Value: name, Label: l.ColumnTitle(name), Chosen: slices.Contains(l.columns, name)})
	}
	return all
}

// list shows a page of a connection. Faults: invalid_pagination, invalid_input, service_unavailable.
func (s *console) list(w http.ResponseWriter, r *http.Request, listed *Section) error {
	l := readListing(listed, r.URL.Query())
	if format := l.sent.Get("format"); format != "" {
		if listed.Private || !slices.Contains(exportFormats, format) {
			return fault.New(fault.NotFound)
		}
		return s.export(w, r, l, format, maxExport)
	}
	if len(l.sent[columnsField]) > 1 && len(l.Unknown) == 0 { // the form sends them one by one
		return seeOther(w, l.Link("", ""))
	}
	if err := l.read(r.Context(), s.ask, l.columns, pageSize, l.sent.Get("after"), l.sent.Get("before")); err != nil {
		return err
	}
	if err := s.fill(r.Context(), l); err != nil {
		return err
	}
	return s.show(w, r, view{template: "list", Title: listed.Title, Path: listed.Path, Live: true, Data: l})
}

// fill makes the titles and rows of a list. For orders that need attention, the first column states why, and who can end them.
func (s *console) fill(ctx context.Context, l *listing) error {
	why := map[string]map[string]any{}
	withWhy := l.Type == "Order" && l.sent.Get(attentionFilter) != ""
	if withWhy {
		ids := make([]any, 0, len(l.nodes))
		for _, node := range l.nodes {
			ids = append(ids, node["id"])
		}
		answer, err := s.ask(ctx, `query ($ids: [ID!]!) { trades(orderIds: $ids) `+tradeFields+` }`, map[string]any{"ids": ids})
		if err != nil {
			return err
		}
		for _, one := range objects(answer, "trades") {
			why[textOf(one, "id")] = one
		}
		l.Titles = append(l.Titles, column{Title: "Why, and who can end it"})
	}
	fields := Schema.Types[l.Type].Fields
	for _, name := range l.columns {
		l.Titles = append(l.Titles, column{l.ColumnTitle(name), slices.Contains([]string{"Int", "Int64"}, fields.ForName(name).Type.Name())})
	}
	for _, node := range l.nodes {
		l.Correct(node)
		made := row{value: entityLink(l.Type, node)}
		if l.Name == "" {
			made.Text = shortened(textOf(node, "id"))
		}
		if withWhy {
			one := why[textOf(node, "id")]
			made.Cells = append(made.Cells, value{Kind: "text", Text: strings.Join(append(texts(one["stuck"]), texts(one["ends"])...), " "), Long: true})
		}
		for _, name := range l.columns {
			made.Cells = append(made.Cells, newValue(l.Type, fields.ForName(name), node[name], true))
		}
		l.Rows = append(l.Rows, made)
	}
	return s.nameRows(ctx, l.Rows)
}
