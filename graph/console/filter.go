package console

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/operator"
)

// whereOf returns the type of a section's conditions.
func whereOf(listed *Section) *ast.Definition { return Schema.Types[listed.Type+"WhereInput"] }

// filtersOf returns the filters of a section with the chosen values. It includes conditions in the request on ids that the
// section does not offer, because relations link to such lists.
func filtersOf(listed *Section, sent url.Values) (all []*field) {
	names := append(slices.Clone(listed.Filters), "createdAtGTE", "createdAtLT")
	for _, of := range relations {
		for _, r := range of {
			if r.Section == listed.Path && sent.Get(r.Field) != "" && !slices.Contains(names, r.Field) {
				names = append(names, r.Field)
			}
		}
	}
	add := func(name, label string, options ...option) *field {
		f := &field{Name: name, Label: label, Kind: "line", Value: strings.TrimSpace(sent.Get(name))}
		if len(options) > 0 {
			f.Kind, f.Options = "choice", append([]option{{Label: "Any"}}, options...)
			f.choose()
		}
		all = append(all, f)
		return f
	}
	if len(listed.Presets) > 0 {
		options := make([]option, len(listed.Presets))
		for i, p := range listed.Presets {
			options[i] = option{Value: p.name, Label: p.label}
		}
		add(attentionFilter, "Needs attention", options...)
	}
	for _, name := range names {
		var options []option
		inner := typeOf(whereOf(listed).Fields.ForName(name).Type)
		switch {
		case name == "procedure":
			for _, act := range operator.Acts() {
				options = append(options, option{Value: act, Label: Human(act)})
			}
		case inner.Name == "Boolean":
			options = []option{{Value: "true", Label: "Yes"}}
			if _, negated := opposite(listed, name); negated {
				options = append(options, option{Value: "false", Label: "No"})
			}
		default:
			for _, one := range inner.EnumValues {
				options = append(options, option{Value: one.Name, Label: Human(one.Name)})
			}
		}
		f := add(name, Human(name), options...)
		if inner.Name == "Time" {
			f.Kind = "time"
			if at, ok := parseTime(f.Value); ok {
				f.Value = strings.TrimSuffix(at.Format(fieldLayout), ":00")
			}
		}
	}
	return all
}

// attentionFilter chooses a preset of a list.
const attentionFilter = "attention"

// opposite returns the opposite of a condition on a null time or on a boolean.
func opposite(listed *Section, name string) (string, bool) {
	for suffix, other := range map[string]string{"IsNil": "NotNil", "NotNil": "IsNil", "": "NEQ"} {
		if field, found := strings.CutSuffix(name, suffix); found && (suffix != "" || !strings.HasSuffix(name, "Nil")) {
			if whereOf(listed).Fields.ForName(field+other) != nil {
				return field + other, true
			}
		}
	}
	return "", false
}

// conditions returns the chosen conditions and the search.
func conditions(listed *Section, filters []*field, q string) []any {
	var all []any
	for _, f := range filters {
		switch {
		case f.Value == "":
		case f.Name == attentionFilter:
			for _, p := range listed.Presets {
				if p.name == f.Value {
					all = append(all, p.where(time.Now().UTC()))
				}
			}
		case f.Kind == "time":
			if at, ok := parseTime(f.Value); ok {
				all = append(all, map[string]any{f.Name: at.Format(time.RFC3339Nano)})
			}
		case f.Value == "true" && f.Kind == "choice":
			all = append(all, map[string]any{f.Name: true})
		case f.Value == "false" && f.Kind == "choice":
			if other, ok := opposite(listed, f.Name); ok {
				all = append(all, map[string]any{other: true})
			}
		default:
			all = append(all, map[string]any{f.Name: f.Value})
			// Once the time is set, Correct shows another state; a condition on the time finds both.
			if e := listed.Ended; f.Name == e.field && f.Value != "deleted" && !slices.ContainsFunc(filters, func(o *field) bool { return strings.HasPrefix(o.Name, e.time) && o.Value != "" }) {
				all = append(all, map[string]any{e.time + "IsNil": true})
			}
		}
	}
	if q = strings.TrimSpace(q); q != "" {
		all = append(all, map[string]any{"or": Searched(listed, q)})
	}
	return all
}

// Searched returns alternative conditions, joined by OR. It searches for an id in every field with ids, and finds acts by the
// words of the pages, too.
func Searched(listed *Section, q string) []map[string]any {
	var all []map[string]any
	if id, ok := parseID(q); ok {
		for _, field := range whereOf(listed).Fields {
			if field.Type.NamedType == "ID" && (field.Name == "id" || strings.HasSuffix(field.Name, "ID")) {
				all = append(all, map[string]any{field.Name: id})
			}
		}
	}
	if whereOf(listed).Fields.ForName("procedure") != nil {
		for _, act := range operator.Acts() {
			if strings.Contains(strings.ToLower(Human(act)), strings.ToLower(q)) {
				all = append(all, map[string]any{"procedure": act})
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
	if len(all) == 0 { // the list is searched only by ids, and q is not an id
		all = append(all, map[string]any{"id": uuid.Nil.String()})
	}
	return all
}

// Sorts returns the possible orders of a list.
func (l *listing) Sorts() []option {
	chosen := l.sent.Get("sort")
	all := []option{{Label: "Newest first", Chosen: chosen == ""}}
	fields := Schema.Types[l.Type+"OrderField"]
	if fields == nil || chosen != "" && fields.EnumValues.ForName(strings.TrimPrefix(chosen, "-")) == nil {
		return all
	}
	for _, field := range fields.EnumValues {
		lowest, highest := ", lowest first", ", highest first"
		if strings.HasSuffix(field.Name, "_AT") {
			lowest, highest = ", oldest first", ", newest first"
		}
		for _, sort := range [][2]string{{field.Name, lowest}, {"-" + field.Name, highest}} {
			all = append(all, option{Value: sort[0], Label: Human(strings.ToLower(field.Name)) + sort[1], Chosen: chosen == sort[0]})
		}
	}
	return all
}

// fieldLayout is the format of a form field for a time. A field whose seconds are 0 has none.
const fieldLayout = "2006-01-02T15:04:05.999"

// parseTime reads a form field's time, in UTC, or a time of the API.
func parseTime(sent string) (time.Time, bool) {
	for _, layout := range []string{"2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339, time.DateOnly} {
		if at, err := time.Parse(layout, sent); err == nil {
			return at.UTC(), true
		}
	}
	return time.Time{}, false
}
