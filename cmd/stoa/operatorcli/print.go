package operatorcli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/cmd/stoa/terminal"
	"stoa/graph/console"
)

// maxCell is the most characters of a text in a table.
const maxCell = 60

// result prints the result of an operation: a list, a record as the row of its list, or an object.
func (d *deps) result(of *ast.Definition, value any) error {
	switch value := value.(type) {
	case []any:
		var columns []string
		for _, f := range of.Fields {
			if f.Type.Elem == nil || schema.Types[f.Type.Name()].IsLeafType() {
				columns = append(columns, f.Name)
			}
		}
		rows := []map[string]any{}
		for _, one := range value {
			row, _ := one.(map[string]any)
			rows = append(rows, row)
		}
		return d.table(of, columns, rows, console.Human)
	case map[string]any:
		if console.IsEntity(of) {
			if s := sectionOf(of); !d.json {
				s.Correct(value)
			}
			return d.table(of, sectionOf(of).Columns, []map[string]any{value}, console.Human)
		}
		return d.detail(value, d.fields(of, value))
	}
	return nil
}

// table prints rows for people, or as a JSON array. Records show their id and name first, unless the list begins with its time.
func (d *deps) table(of *ast.Definition, columns []string, rows []map[string]any, title func(column string) string) error {
	if d.json {
		return terminal.JSON(d.out, rows)
	}
	if len(rows) == 0 {
		fmt.Fprintln(d.out, "Nothing there.")
		return nil
	}
	log := len(columns) > 0 && columns[0] == "createdAt"
	if name := sectionOf(of).Name; name != "" {
		columns = append([]string{name}, columns...)
	}
	if console.IsEntity(of) && !log {
		columns = append([]string{"id"}, columns...)
	}
	titles := make([]string, len(columns))
	for i, name := range columns {
		titles[i] = strings.ToUpper(title(name))
	}
	lines := make([][]string, len(rows))
	for n, row := range rows {
		for i, name := range columns {
			lines[n] = append(lines[n], truncate(cell(of.Fields.ForName(name), row[name], !log || i > 0)))
		}
	}
	_, err := io.WriteString(d.out, terminal.Table(titles, lines))
	return err
}

type field [2]string

// detail prints one object for people, without empty fields, or as JSON.
func (d *deps) detail(value any, fields []field) error {
	if d.json {
		return terminal.JSON(d.out, value)
	}
	_, err := io.WriteString(d.out, terminal.Record(fields))
	return err
}

// fields returns the lines of an object in the order of the schema. An inner object adds its own lines, except for fields that
// are the same in the object; a list adds a line per entry.
func (d *deps) fields(of *ast.Definition, object map[string]any) (all []field) {
	names := map[string]string{}
	collectHandles(object, names)
	for _, f := range of.Fields {
		inner, title := schema.Types[f.Type.Name()], console.Human(f.Name)
		switch value := object[f.Name].(type) {
		case map[string]any:
			if inner.IsLeafType() || len(value) <= 2 {
				all = append(all, field{title, cell(f, value, false)})
			} else {
				own := maps.Clone(value)
				maps.DeleteFunc(own, func(name string, value any) bool {
					outer, has := object[name]
					return has && reflect.DeepEqual(outer, value)
				})
				all = append(all, d.fields(inner, own)...)
			}
		case []any:
			if len(value) == 0 {
				all = append(all, field{title, "none"})
			}
			for _, one := range value {
				text := fmt.Sprint(one)
				if entry, ok := one.(map[string]any); ok {
					text = line(inner, entry, names)
				}
				all = append(all, field{title, text})
			}
		default:
			text := cell(f, value, false)
			if handle, known := names[text]; known && f.Name != "id" {
				text = handle + "  " + text
			}
			all = append(all, field{title, text})
		}
	}
	return all
}

// collectHandles collects the handles of the agents in a result by their ids.
func collectHandles(value any, names map[string]string) {
	switch value := value.(type) {
	case map[string]any:
		if handle, ok := value["handle"].(string); ok {
			names[fmt.Sprint(value["id"])] = handle
		}
		for _, inner := range value {
			collectHandles(inner, names)
		}
	case []any:
		for _, inner := range value {
			collectHandles(inner, names)
		}
	}
}

// line formats an entry of a list: its texts, and its numbers after their names.
func line(of *ast.Definition, entry map[string]any, names map[string]string) string {
	var words []string
	for _, f := range of.Fields {
		text := cell(f, entry[f.Name], false)
		if known, ok := names[text]; ok {
			text = known
		}
		switch entry[f.Name].(type) {
		case json.Number, bool:
			text = strings.ToLower(console.Human(f.Name)) + " " + text
		}
		if text != "" {
			words = append(words, text)
		}
	}
	return strings.Join(words, "  ")
}

// cell formats a value as text. brief prints a time as an age.
func cell(f *ast.FieldDefinition, value any, brief bool) string {
	switch value := value.(type) {
	case nil:
		return ""
	case bool:
		return map[bool]string{true: "yes", false: "no"}[value]
	case json.Number:
		return number(f.Name, value)
	case string:
		at, err := time.Parse(time.RFC3339, value)
		switch {
		case f.Type.Name() == "Time" && err == nil && brief:
			return age(time.Now(), at)
		case f.Type.Name() == "Time" && err == nil:
			return at.Local().Format("2006-01-02 15:04:05 MST") //nolint:gosmopolitan // the operator's own clock
		case schema.Types[f.Type.Name()].Kind == ast.Enum:
			return strings.ToLower(value)
		case value != "" && (f.Name == "code" || f.Name == "token"):
			return value + "  (not shown again)"
		}
		return value
	case map[string]any:
		if id, ok := value["id"].(string); ok { // an entity, with its name if it has one
			name, _ := value["handle"].(string)
			for key, text := range value {
				if key != "id" {
					name = cmp.Or(name, fmt.Sprint(text))
				}
			}
			if brief && name != "" {
				return name
			}
			return strings.TrimSpace(name + "  " + id)
		}
	}
	raw, err := json.Marshal(value)
	if err != nil || string(raw) == "{}" {
		return ""
	}
	return string(raw)
}

// number formats a number by the unit in its field's name.
func number(name string, value json.Number) string {
	whole, err := value.Int64()
	switch {
	case err == nil && strings.HasSuffix(name, "Minor"):
		return terminal.Credits(whole)
	case err == nil && strings.HasSuffix(name, "Bps"):
		return fmt.Sprintf("%d.%02d %%", whole/100, whole%100)
	default:
		return value.String()
	}
}

func truncate(text string) string {
	if runes := []rune(text); len(runes) > maxCell {
		return string(runes[:maxCell-1]) + "…"
	}
	return text
}
