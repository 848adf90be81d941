package operatorcli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"
)

// maxCell is how many characters of a text a table shows.
const maxCell = 60

// column is one column of a table.
type column[Row any] struct {
	title string
	cell  func(Row) string
}

// table prints rows for people, or as a JSON array.
func table[Row any](d *deps, rows []Row, columns []column[Row]) error {
	if d.json {
		return d.printJSON(rows)
	}
	if len(rows) == 0 {
		fmt.Fprintln(d.out, "Nothing there.")
		return nil
	}
	w := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	for i, c := range columns {
		fmt.Fprintf(w, "%s%s", separator(i), strings.ToUpper(c.title))
	}
	fmt.Fprintln(w)
	for _, row := range rows {
		for i, c := range columns {
			fmt.Fprintf(w, "%s%s", separator(i), truncate(c.cell(row)))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return "\t"
}

// field is one line of detail's output.
type field struct{ title, text string }

// detail prints one object for people, without empty fields, or as JSON.
func (d *deps) detail(value any, fields ...field) error {
	if d.json {
		return d.printJSON(value)
	}
	w := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	for _, l := range fields {
		if l.text != "" {
			fmt.Fprintf(w, "%s\t%s\n", l.title, strings.ReplaceAll(plain(l.text), "\n", "\n\t"))
		}
	}
	return w.Flush()
}

// printJSON prints for scripts: the names of GraphQL, times in RFC 3339, amounts in minor units.
func (d *deps) printJSON(value any) error {
	encoder := json.NewEncoder(d.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// plain replaces control characters, which a terminal would obey.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return ' '
		}
		return r
	}, text)
}

// truncate makes a text fit into a cell.
func truncate(text string) string {
	text = strings.ReplaceAll(plain(text), "\n", " ")
	if runes := []rune(text); len(runes) > maxCell {
		return string(runes[:maxCell-1]) + "…"
	}
	return text
}
