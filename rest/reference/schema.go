package reference

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// schema is the part of a JSON schema that the reference shows.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       any                `json:"type"`
	Format     string             `json:"format"`
	Const      any                `json:"const"`
	Enum       []any              `json:"enum"`
	MaxLength  int                `json:"maxLength"`
	Pattern    string             `json:"pattern"`
	MaxItems   int                `json:"maxItems"`
	Required   []string           `json:"required"`
	Properties map[string]*schema `json:"properties"`
	Items      *schema            `json:"items"`
	OneOf      []*schema          `json:"oneOf"`
	AnyOf      []*schema          `json:"anyOf"`
	AllOf      []*schema          `json:"allOf"`
}

const schemas = "#/components/schemas/"

// short are the names of types that records and requests are made of, as the page explains them.
var short = map[string]string{"Id": "id", "SentId": "id", "Time": "time", "SentTime": "time", "SentFiles": "[id]..10", "Minor": "int", "SentAmount": "int"}

// resolve follows references and merges the parts of allOf.
func (d *description) resolve(s *schema) *schema {
	for s != nil && s.Ref != "" {
		s = d.Components.Schemas[strings.TrimPrefix(s.Ref, schemas)]
	}
	if s == nil || len(s.AllOf) == 0 {
		return s
	}
	whole := *s
	whole.AllOf, whole.Properties = nil, maps.Clone(s.Properties)
	if whole.Properties == nil {
		whole.Properties = map[string]*schema{}
	}
	for _, part := range s.AllOf {
		part = d.resolve(part)
		maps.Copy(whole.Properties, part.Properties)
		whole.Required = append(slices.Clone(whole.Required), part.Required...)
		if whole.Type == nil {
			whole.Type = part.Type
		}
	}
	return &whole
}

// isRecord reports whether a component is an object with members, which the page lists by its name.
func (d *description) isRecord(name string) bool {
	s := d.resolve(d.Components.Schemas[name])
	return s != nil && len(s.Properties) > 0
}

// isChoice reports whether a component is a set of words that is longer than its name.
func (d *description) isChoice(name string) bool {
	s := d.Components.Schemas[name]
	return s != nil && name != "ErrorCode" && len(s.Enum) > 0 && len(oneOf(s.Enum)) > len(name)
}

// kind is the type of a value in a word; empty for a string that is only bounded by its use.
func (d *description) kind(s *schema) string {
	name := strings.TrimPrefix(s.Ref, schemas)
	if known, ok := short[name]; ok {
		return known
	}
	if s.Ref != "" && (d.isRecord(name) || d.isChoice(name)) {
		return name
	}
	if len(s.AllOf) == 1 && s.AllOf[0].Ref != "" {
		return d.kind(s.AllOf[0])
	}
	for _, choices := range [][]*schema{s.OneOf, s.AnyOf} {
		if s.Ref == "" && len(choices) > 0 && len(s.Properties) == 0 {
			return d.choice(choices)
		}
	}
	whole := d.resolve(s)
	switch {
	case whole == nil:
		return ""
	case len(whole.Enum) > 0:
		return oneOf(whole.Enum)
	case whole.Const != nil:
		return fmt.Sprint(whole.Const)
	case whole.Items != nil:
		return "[" + d.kind(whole.Items) + "]" + atMost(whole.MaxItems)
	case len(whole.Properties) > 0:
		return "{" + d.members(whole, false) + "}" + nullable(whole.Type)
	}
	return plain(whole)
}

func (d *description) choice(choices []*schema) string {
	var kinds []string
	for _, one := range choices {
		if kind := d.kind(one); kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, "|")
}

func oneOf(values []any) string {
	words := make([]string, len(values))
	for i, value := range values {
		words[i] = fmt.Sprint(value)
		if value == nil {
			words[i] = "null"
		}
	}
	return strings.Join(words, "|")
}

// plain is the type of a value without members.
func plain(s *schema) string {
	name, _ := s.Type.(string)
	if kinds, ok := s.Type.([]any); ok {
		name = fmt.Sprint(kinds[0])
	}
	word := map[string]string{"integer": "int", "boolean": "bool", "number": "number", "object": "object", "null": "null"}[name]
	return word + atMost(cmp.Or(s.MaxLength, trimmedLength(s.Pattern))) + nullable(s.Type)
}

// trimmedLine matches the pattern of a line that is trimmed. Its group is how many characters may stand between the first and the last.
var trimmedLine = regexp.MustCompile(`^\^\\s\*\(?\\S\(\.\{0,(\d+)\}\\S\)\?\)?\??\\s\*\$$`)

// trimmedLength is the longest length of a line that is trimmed before its length is judged, as its pattern says; 0 for other patterns.
func trimmedLength(pattern string) int {
	found := trimmedLine.FindStringSubmatch(pattern)
	if found == nil {
		return 0
	}
	inner, _ := strconv.Atoi(found[1]) // digits
	return inner + 2
}

// nullable marks a type that may be null.
func nullable(kind any) string {
	if kinds, ok := kind.([]any); ok && slices.Contains(kinds, any("null")) {
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

// members lists the members of an object, required ones first; marked puts an asterisk behind those.
func (d *description) members(s *schema, marked bool) string {
	names := slices.Sorted(maps.Keys(s.Properties))
	slices.SortStableFunc(names, func(a, b string) int {
		return boolOrder(slices.Contains(s.Required, b)) - boolOrder(slices.Contains(s.Required, a))
	})
	words := make([]string, len(names))
	for i, name := range names {
		words[i] = name
		if marked && slices.Contains(s.Required, name) {
			words[i] += "*"
		}
		if kind := d.kind(s.Properties[name]); kind != "" {
			words[i] += ":" + kind
		}
	}
	return strings.Join(words, " ")
}

func boolOrder(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
