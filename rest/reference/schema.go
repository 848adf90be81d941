package reference

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"stoa/rest/openapi"
)

// short holds the short names of basic types, as the page explains them.
var short = map[string]string{"Id": "id", "SentId": "id", "Time": "time", "SentTime": "time", "SentFiles": "[id]..10", "Minor": "int", "SentAmount": "int"}

// resolve follows references and merges the parts of allOf.
func (d description) resolve(s *openapi.Schema) *openapi.Schema {
	if s = d.Follow(s); s == nil || s.AllOf == nil {
		return s
	}
	whole := *s
	whole.Properties = make(map[string]*openapi.Schema)
	maps.Copy(whole.Properties, s.Properties)
	for _, part := range s.AllOf {
		part = d.resolve(part)
		maps.Copy(whole.Properties, part.Properties)
		whole.Required = slices.Concat(whole.Required, part.Required)
		whole.Type, whole.Nullable = cmp.Or(whole.Type, part.Type), whole.Nullable || whole.Type == "" && part.Nullable
	}
	whole.AllOf = nil
	return &whole
}

// isRecord reports whether a component is an object with members; the page lists it by name.
func (d description) isRecord(name string) bool {
	s := d.resolve(d.Components.Schemas[name])
	return s != nil && len(s.Properties) > 0
}

// isChoice reports whether a component is an enumeration that is longer than its name.
func (d description) isChoice(name string) bool {
	s := d.Components.Schemas[name]
	return s != nil && name != "ErrorCode" && len(s.Enum) > 0 && len(oneOf(s.Enum)) > len(name)
}

// kind returns a short type of a value; empty for a string without bounds.
func (d description) kind(s *openapi.Schema) string {
	name := openapi.Component(s.Ref)
	if known, ok := short[name]; ok {
		return known
	}
	if s.Ref != "" && (d.isRecord(name) || d.isChoice(name)) {
		return name
	}
	if len(s.AllOf) == 1 && s.AllOf[0].Ref != "" {
		return d.kind(s.AllOf[0])
	}
	for _, choices := range [][]*openapi.Schema{s.OneOf, s.AnyOf} {
		if s.Ref == "" && len(choices) > 0 && len(s.Properties) == 0 {
			return d.choice(choices)
		}
	}
	whole := d.resolve(s)
	switch {
	case whole == nil:
		return ""
	case len(whole.Enum) > 0:
		return d.shortest(wordsOf(whole.Enum))
	case whole.Const != nil:
		return fmt.Sprint(whole.Const)
	case whole.Items != nil:
		return "[" + d.kind(whole.Items) + "]" + atMost(whole.MaxItems)
	case len(whole.Properties) > 0:
		return "{" + d.members(whole, false) + "}" + nullable(whole)
	}
	return plain(whole)
}

func (d description) choice(choices []*openapi.Schema) string {
	var kinds []string
	for _, one := range choices {
		if kind := d.kind(one); kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return d.shortest(kinds)
}

// shortest joins words. If they include all values of an enumeration, its name replaces them.
func (d description) shortest(words []string) string {
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		if !d.isChoice(name) {
			continue
		}
		listed := wordsOf(d.Components.Schemas[name].Enum)
		others := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return slices.Contains(listed, word) })
		if len(others)+len(listed) == len(words) {
			return strings.Join(append([]string{name}, others...), "|")
		}
	}
	return strings.Join(words, "|")
}

func oneOf(values []any) string { return strings.Join(wordsOf(values), "|") }

func wordsOf(values []any) []string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = fmt.Sprint(value)
		if value == nil {
			words[i] = "null"
		}
	}
	return words
}

func plain(s *openapi.Schema) string {
	word := map[string]string{"integer": "int", "boolean": "bool", "number": "number", "object": "object", "null": "null"}[s.Type]
	return word + atMost(cmp.Or(s.MaxLength, trimmedLength(s.Pattern))) + nullable(s)
}

// trimmedLine matches the pattern of a trimmed line. Its group is the maximum number of characters between the first and the
// last.
var trimmedLine = regexp.MustCompile(`^\^\\s\*\(?\\S\(\.\{0,(\d+)\}\\S\)\?\)?\??\\s\*\$$`)

// trimmedLength returns the maximum length of a line that is trimmed before the check, from its pattern; 0 for other patterns.
func trimmedLength(pattern string) int {
	found := trimmedLine.FindStringSubmatch(pattern)
	if found == nil {
		return 0
	}
	inner, _ := strconv.Atoi(found[1]) // digits
	return inner + 2
}

func nullable(s *openapi.Schema) string {
	if s.Nullable {
		return "?"
	}
	return ""
}

func atMost(most int) string {
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("..%d", most)
}

// members lists the members of an object, required ones first; marked adds an asterisk to required ones.
func (d description) members(s *openapi.Schema, marked bool) string {
	if s == nil {
		return ""
	}
	var first, others []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		isRequired := slices.Contains(s.Required, name)
		word := name
		if marked && isRequired {
			word += "*"
		}
		if kind := d.kind(s.Properties[name]); kind != "" {
			word += ":" + kind
		}
		if isRequired {
			first = append(first, word)
		} else {
			others = append(others, word)
		}
	}
	return strings.Join(append(first, others...), " ")
}
