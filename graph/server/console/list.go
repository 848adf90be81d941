package console

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/vektah/gqlparser/v2/ast"
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
	// CSV and JSON lead to everything that was asked for; empty if the list is not exported.
	CSV, JSON  string
	Procedures []*procedure
	Q          string
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

// filter is a condition that can be chosen.
type filter struct {
	Name, Label string
	// Kind is choice, text or time.
	Kind    string
	Options []option
	Value   string
}

type option struct {
	Value, Label string
	Chosen       bool
	Hint         string
}

// list shows a page of a connection. Faults: invalid_pagination, invalid_input, service_unavailable.
func (s *console) list(w http.ResponseWriter, r *http.Request, listed *section) error {
	sent := r.URL.Query()
	data := listData{section: listed, Q: sent.Get("q"), Procedures: proceduresOfList(listed)}
	data.Filters = filtersOf(listed, sent)
	data.Sorts = sortsOf(listed, sent.Get("sort"))
	where := conditions(listed, data.Filters, data.Q)
	data.Filtered = len(where) > 0
	data.Opened = sent.Get("sort") != "" || slices.ContainsFunc(data.Filters, func(f filter) bool { return f.Value != "" })
	variables, reversed := paging(sent)
	if len(where) > 0 {
		variables["where"] = map[string]any{"and": where}
	}
	if sort := sent.Get("sort"); sort != "" && !reversed {
		direction := "ASC"
		if name, descending := strings.CutPrefix(sort, "-"); descending {
			sort, direction = name, "DESC"
		}
		variables["orderBy"] = []any{map[string]any{"field": sort, "direction": direction}}
	}
	if format := sent.Get("format"); format != "" {
		return s.export(w, r, listed, format, variables)
	}
	answer, err := s.ask(r.Context(), listQuery(listed, listed.Columns), variables)
	if err != nil {
		return err
	}
	found := object(answer, listed.Field)
	definition := schema.Types[listed.Type]
	for _, name := range listed.Columns {
		field := definition.Fields.ForName(name)
		data.Columns = append(data.Columns, column{human(name), slices.Contains([]string{"Int", "Int64"}, field.Type.Name())})
	}
	for _, edge := range objects(found, "edges") {
		node := object(edge, "node")
		correctState(listed.Type, node)
		link := entityLink(listed.Type, node)
		made := row{Name: link.Text, Link: link.Link}
		for _, name := range listed.Columns {
			made.Cells = append(made.Cells, newValue(listed.Type, definition.Fields.ForName(name), node[name], true))
		}
		data.Rows = append(data.Rows, made)
	}
	if reversed {
		slices.Reverse(data.Rows)
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
	if !listed.Private {
		data.CSV, data.JSON = exportPath(listed, sent, "csv"), exportPath(listed, sent, "json")
	}
	data.Newer, data.Older = beside(listed, sent, object(found, "pageInfo"), reversed)
	return s.show(w, r, view{template: listPage, Title: listed.Title, Path: listed.Path, Data: data})
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

// pageSize is the number of rows of a list.
const pageSize = 25

// paging are the arguments of a connection. Without its own order a list is read backwards along the ids, which begin with the
// time: the newest first, off the primary key.
func paging(sent url.Values) (variables map[string]any, reversed bool) {
	variables = map[string]any{}
	reversed = sent.Get("sort") == ""
	first, last, after, before := "first", "last", "after", "before"
	if reversed {
		first, last, after, before = last, first, before, after
	}
	switch {
	case sent.Get("before") != "":
		variables[last], variables[before] = pageSize, sent.Get("before")
	case sent.Get("after") != "":
		variables[first], variables[after] = pageSize, sent.Get("after")
	default:
		variables[first] = pageSize
	}
	return variables, reversed
}

// beside are the paths of the pages before and after one.
func beside(listed *section, sent url.Values, info map[string]any, reversed bool) (newer, older string) {
	start, end := info["startCursor"], info["endCursor"]
	hasNewer, hasOlder := info["hasPreviousPage"] == true, info["hasNextPage"] == true
	if reversed {
		start, end = end, start
		hasNewer, hasOlder = hasOlder, hasNewer
	}
	// A connection knows only what lies in the direction in which it was read.
	hasNewer, hasOlder = hasNewer || sent.Get("after") != "", hasOlder || sent.Get("before") != ""
	at := func(name string, cursor any) string {
		text, _ := cursor.(string)
		if text == "" {
			return ""
		}
		next := url.Values{}
		for name, values := range sent {
			if name != "after" && name != "before" && values[0] != "" {
				next.Set(name, values[0])
			}
		}
		next.Set(name, text)
		return listed.Path + "?" + next.Encode()
	}
	if hasNewer {
		newer = at("before", start)
	}
	if hasOlder {
		older = at("after", end)
	}
	return newer, older
}

// whereOf is the type of a section's conditions.
func whereOf(listed *section) *ast.Definition { return schema.Types[listed.Type+"WhereInput"] }

// filtersOf are the filters of a section with what was chosen of them. A condition on an id that the section does not list is among
// them if it was sent: relations lead to such a list.
func filtersOf(listed *section, sent url.Values) []filter {
	names := append(slices.Clone(listed.Filters), listed.times()...)
	for _, of := range relations {
		for _, r := range of {
			if r.Section == listed.Path && sent.Get(r.Field) != "" && !slices.Contains(names, r.Field) {
				names = append(names, r.Field)
			}
		}
	}
	all := make([]filter, 0, len(names)+1)
	if presets := presetsOf(listed); len(presets) > 0 {
		f := filter{Name: attentionFilter, Label: "Needs attention", Kind: "choice", Value: sent.Get(attentionFilter)}
		f.Options = []option{{Label: "Any", Chosen: f.Value == ""}}
		for _, p := range presets {
			f.Options = append(f.Options, option{Value: p.name, Label: p.label, Chosen: p.name == f.Value})
		}
		all = append(all, f)
	}
	for _, name := range names {
		field := whereOf(listed).Fields.ForName(name)
		f := filter{Name: name, Label: human(name), Kind: "text", Value: strings.TrimSpace(sent.Get(name))}
		switch inner := typeOf(field.Type); {
		case inner.Kind == ast.Enum:
			f.Kind = "choice"
			f.Options = []option{{Label: "Any", Chosen: f.Value == ""}}
			for _, one := range inner.EnumValues {
				f.Options = append(f.Options, option{Value: one.Name, Label: human(one.Name), Chosen: one.Name == f.Value})
			}
		case inner.Name == "Boolean":
			f.Kind = "choice"
			f.Options = []option{{Label: "Any", Chosen: f.Value == ""}, {Value: "true", Label: "Yes", Chosen: f.Value == "true"}}
			if _, negated := opposite(listed, name); negated {
				f.Options = append(f.Options, option{Value: "false", Label: "No", Chosen: f.Value == "false"})
			}
		case inner.Name == "Time":
			f.Kind = "time"
		}
		all = append(all, f)
	}
	return all
}

// opposite is the condition that holds where another does not: of a time that is null, or of a boolean.
func opposite(listed *section, name string) (string, bool) {
	for suffix, other := range map[string]string{"IsNil": "NotNil", "NotNil": "IsNil", "": "NEQ"} {
		if field, found := strings.CutSuffix(name, suffix); found && (suffix != "" || !strings.HasSuffix(name, "Nil")) {
			if whereOf(listed).Fields.ForName(field+other) != nil {
				return field + other, true
			}
		}
	}
	return "", false
}

// conditions are those that were chosen, and the search.
func conditions(listed *section, filters []filter, q string) []any {
	var all []any
	for _, f := range filters {
		switch {
		case f.Value == "":
		case f.Name == attentionFilter:
			for _, p := range presetsOf(listed) {
				if p.name == f.Value {
					all = append(all, p.where(time.Now().UTC()))
				}
			}
		case f.Kind == "time":
			if at, ok := parseTime(f.Value); ok {
				all = append(all, map[string]any{f.Name: at.Format(time.RFC3339)})
			}
		case f.Value == "true" && f.Kind == "choice":
			all = append(all, map[string]any{f.Name: true})
		case f.Value == "false" && f.Kind == "choice":
			if other, ok := opposite(listed, f.Name); ok {
				all = append(all, map[string]any{other: true})
			}
		default:
			all = append(all, map[string]any{f.Name: f.Value})
		}
	}
	if q = strings.TrimSpace(q); q != "" {
		all = append(all, map[string]any{"or": searched(listed, q)})
	}
	return all
}

// searched returns alternative conditions, joined by OR: an id is searched for in every field that holds one.
func searched(listed *section, q string) []map[string]any {
	var all []map[string]any
	if id, ok := parseID(q); ok {
		for _, field := range whereOf(listed).Fields {
			if field.Type.NamedType == "ID" && (field.Name == "id" || strings.HasSuffix(field.Name, "ID")) {
				all = append(all, map[string]any{field.Name: id})
			}
		}
	}
	for _, path := range listed.Search {
		if edge, name, nested := strings.Cut(path, "."); nested {
			all = append(all, map[string]any{edge: []any{map[string]any{name: q}}})
		} else {
			all = append(all, map[string]any{edge: q})
		}
	}
	if len(all) == 0 { // a list in which only ids are searched for, and this is none
		all = append(all, map[string]any{"id": uuid.Nil.String()})
	}
	return all
}

// sortsOf are the orders that a list may have.
func sortsOf(listed *section, chosen string) []option {
	all := []option{{Label: "Newest first", Chosen: chosen == ""}}
	fields := schema.Types[listed.Type+"OrderField"]
	if fields == nil || chosen != "" && fields.EnumValues.ForName(strings.TrimPrefix(chosen, "-")) == nil {
		return all
	}
	for _, field := range fields.EnumValues {
		label, lowest, highest := human(strings.ToLower(field.Name)), ", lowest first", ", highest first"
		if strings.HasSuffix(field.Name, "_AT") {
			lowest, highest = ", oldest first", ", newest first"
		}
		all = append(all,
			option{Value: field.Name, Label: label + lowest, Chosen: chosen == field.Name},
			option{Value: "-" + field.Name, Label: label + highest, Chosen: chosen == "-"+field.Name})
	}
	return all
}

// parseTime reads what a field for a time sends, in UTC, or a time of the API.
func parseTime(sent string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, sent); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
