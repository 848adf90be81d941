package console

import (
	"net/url"
	"slices"
	"strings"

	"stoa/graph/platform/pages"
)

// columnsField is the parameter of an address that chooses the columns of a list: names, apart by commas or sent one by one.
const columnsField = "columns"

// columnsOf are the columns that a list may have beside the id and the name: those that it has unless others are chosen, then the rest.
func columnsOf(listed *section) []string {
	all := slices.Clone(listed.Columns)
	for _, field := range fieldsOf(schema.Types[listed.Type]) {
		if selection(field, 0) != "" && field.Name != "id" && field.Name != listed.Name && !slices.Contains(all, field.Name) {
			all = append(all, field.Name)
		}
	}
	return all
}

// chosenColumns are the columns that an address chooses, in the order of columnsOf; those of the section if it chooses none. unknown
// are the names of no column.
func chosenColumns(listed *section, sent url.Values) (chosen, unknown []string) {
	known := columnsOf(listed)
	named := strings.FieldsFunc(strings.Join(sent[columnsField], ","), func(r rune) bool { return r == ',' })
	for _, name := range known {
		if slices.Contains(named, name) {
			chosen = append(chosen, name)
		}
	}
	for _, name := range named {
		if !slices.Contains(known, name) && len(unknown) < maxUnknownColumns {
			unknown = append(unknown, pages.VisibleLine(pages.Line(name, shortLine)))
		}
	}
	if len(chosen) == 0 {
		chosen = listed.Columns
	}
	return chosen, unknown
}

// maxUnknownColumns is how many names of no column a page mentions.
const maxUnknownColumns = 5

// columnOptions are the boxes to tick.
func columnOptions(listed *section, chosen []string) []option {
	names := columnsOf(listed)
	all := make([]option, 0, len(names))
	for _, name := range names {
		all = append(all, option{Value: name, Label: human(name), Chosen: slices.Contains(chosen, name)})
	}
	return all
}
