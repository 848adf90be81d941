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

// filter is a condition that operators can choose.
type filter struct {
	Name, Label string
	// Kind is choice, text or time.
	Kind    string
	Options []option
	Value   string
}

// whereOf returns the type of a section's conditions.
func whereOf(listed *Section) *ast.Definition { return Schema.Types[listed.Type+"WhereInput"] }

// filtersOf returns the filters of a section with the chosen values. It includes conditions in the request on ids that the
// section does not offer, because relations link to such lists.
func filtersOf(listed *Section, sent url.Values) []filter {
	names := append(slices.Clone(listed.Filters), "createdAtGTE", "createdAtLT")
	for _, of := range relations {
		for _, r := range of {
			if r.Section == listed.Path && sent.Get(r.Field) != "" && !slices.Contains(names, r.Field) {
				names = append(names, r.Field)
			}
		}
	}
	all := make([]filter, 0, len(names)+1)
	if len(listed.Presets) > 0 {
		f := filter{Name: attentionFilter, Label: "Needs attention", Value: sent.Get(attentionFilter)}
		f.offer("", "Any")
		for _, p := range listed.Presets {
			f.offer(p.name, p.label)
		}
		all = append(all, f)
	}
	for _, name := range names {
		field := whereOf(listed).Fields.ForName(name)
		f := filter{Name: name, Label: Human(name), Kind: "text", Value: strings.TrimSpace(sent.Get(name))}
		switch inner := typeOf(field.Type); {
		case name == "procedure":
			f.offer("", "Any")
			for _, act := range operator.Acts() {
				f.offer(act, Human(act))
			}
		case inner.Kind == ast.Enum:
			f.offer("", "Any")
			for _, one := range inner.EnumValues {
				f.offer(one.Name, Human(one.Name))
			}
		case inner.Name == "Boolean":
			f.offer("", "Any")
			f.offer("true", "Yes")
			if _, negated := opposite(listed, name); negated {
				f.offer("false", "No")
			}
		case inner.Name == "Time":
			f.Kind = "time"
			if at, ok := parseTime(f.Value); ok {
				f.Value = strings.TrimSuffix(at.Format(fieldLayout), ":00")
			}
		}
		all = append(all, f)
	}
	return all
}

// offer adds an option to a choice.
func (f *filter) offer(value, label string) {
	f.Kind = "choice"
	f.Options = append(f.Options, option{Value: value, Label: label, Chosen: value == f.Value})
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
func conditions(listed *Section, filters []filter, q string) []any {
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
			if e := listed.Ended; f.Name == e.field && f.Value != "deleted" && !slices.ContainsFunc(filters, func(o filter) bool { return strings.HasPrefix(o.Name, e.time) && o.Value != "" }) {
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
