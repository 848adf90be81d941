package console

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
)

// listing holds what an address asks of a list.
type listing struct {
	*section
	sent url.Values
	zone *time.Location

	filters          []filter
	columns, unknown []string
	// variables are those of listQuery; reversed: the page is read backwards.
	variables map[string]any
	reversed  bool
}

// readListing reads an address. Times without a zone are in that of the operator.
func readListing(listed *section, sent url.Values, zone *time.Location) *listing {
	l := &listing{section: listed, sent: sent, zone: zone, filters: filtersOf(listed, sent, zone)}
	l.columns, l.unknown = chosenColumns(listed, sent)
	l.variables, l.reversed = paging(sent)
	if where := conditions(listed, l.filters, sent.Get("q")); len(where) > 0 {
		l.variables["where"] = map[string]any{"and": where}
	}
	if sort := sent.Get("sort"); sort != "" && !l.reversed {
		direction := "ASC"
		if name, descending := strings.CutPrefix(sort, "-"); descending {
			sort, direction = name, "DESC"
		}
		l.variables["orderBy"] = []any{map[string]any{"field": sort, "direction": direction}}
	}
	return l
}

// filtered reports whether not everything is asked for.
func (l *listing) filtered() bool { return l.variables["where"] != nil }

// address is the query of an address that asks for the same of any operator, in whatever zone.
func (l *listing) address() url.Values {
	same := url.Values{}
	for name, values := range l.sent {
		if values[0] != "" && name != columnsField {
			same.Set(name, values[0])
		}
	}
	for _, f := range l.filters {
		if at, ok := parseTime(f.Value, l.zone); ok && f.Kind == "time" {
			same.Set(f.Name, stamp(at))
		}
	}
	if !slices.Equal(l.columns, l.Columns) {
		same.Set(columnsField, strings.Join(l.columns, ","))
	}
	return same
}

// whole is the address of everything that is asked for, rather than a page of it.
func (l *listing) whole() url.Values {
	all := l.address()
	all.Del("after")
	all.Del("before")
	return all
}

// pathWith is a path with a query.
func pathWith(path string, query url.Values) string {
	if encoded := query.Encode(); encoded != "" {
		return path + "?" + encoded
	}
	return path
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
		next := maps.Clone(sent)
		next.Del("after")
		next.Del("before")
		next.Set(name, text)
		return pathWith(listed.Path, next)
	}
	if hasNewer {
		newer = at("before", start)
	}
	if hasOlder {
		older = at("after", end)
	}
	return newer, older
}
