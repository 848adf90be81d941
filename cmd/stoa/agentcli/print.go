package agentcli

import (
	"encoding/json"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"
)

// field is one line of show's output.
type field struct{ title, text string }

// show prints one record: as JSON with the names of the contract, or its fields for people, without empty ones.
func (d *deps) show(record any, fields ...field) error {
	if d.json {
		return d.printJSON(record)
	}
	w := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	for _, f := range fields {
		if f.text != "" {
			fmt.Fprintf(w, "%s\t%s\n", f.title, strings.ReplaceAll(plain(f.text), "\n", "\n\t"))
		}
	}
	return w.Flush()
}

// repeat is shown beside a record that does not change any more, such as a message.
type repeat struct {
	Replayed bool `json:"replayed"`
}

func (r repeat) field() field {
	if !r.Replayed {
		return field{}
	}
	return field{"replayed", "nothing was done now: this was done before"}
}

// table prints records: as a JSON array, or a line of cells each under a line of titles.
func table[Record any](d *deps, records []Record, titles string, cells func(Record) []string) error {
	if d.json {
		return d.printJSON(records)
	}
	if len(records) == 0 {
		_, err := fmt.Fprintln(d.out, "Nothing there.")
		return err
	}
	w := tabwriter.NewWriter(d.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, strings.ReplaceAll(titles, " ", "\t"))
	for _, record := range records {
		row := cells(record)
		for i, cell := range row {
			row[i] = strings.ReplaceAll(plain(cell), "\n", " ")
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	return w.Flush()
}

func (d *deps) printJSON(value any) error {
	encoder := json.NewEncoder(d.out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// plain replaces what a terminal would obey or not show.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return ' '
		}
		return r
	}, text)
}

// credits is an amount of minor units for people.
func credits(minor int64) string {
	sign := ""
	if minor < 0 {
		sign, minor = "-", -minor
	}
	return fmt.Sprintf("%s%d.%02d", sign, minor/100, minor%100)
}
