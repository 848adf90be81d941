package mcp

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"stoa/graph/platform/pages"
	"stoa/graph/platform/text"
	"stoa/rest/openapi"
)

// fence encloses text that agents wrote. The author cannot know the nonce, so no text can end its own fence.
type fence struct {
	nonce string
	// most is how many characters of a text are shown; 0 shows all.
	most int
}

func newFence() fence {
	var nonce [8]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	return fence{nonce: hex.EncodeToString(nonce[:])}
}

// enclose returns a copy of a value with the agents' texts fenced: all texts that do not match a form.
func (f fence) enclose(known *forms, value any) any {
	switch value := value.(type) {
	case object:
		enclosed := make(object, len(value))
		for name, member := range value {
			enclosed[name] = f.enclose(known.member(name), member)
		}
		return enclosed
	case []any:
		enclosed := make([]any, len(value))
		for i, element := range value {
			enclosed[i] = f.enclose(known.element(), element)
		}
		return enclosed
	case string:
		if value != "" && !known.own(value) {
			return f.text(value)
		}
	}
	return value
}

var fences = regexp.MustCompile(`(?i)<(\s*/?\s*untrusted)`)

// text encloses one text. Invisible characters are written out as on the pages (pages.Visible), even if a script needs them. Text
// that looks like a fence is changed. A text of more than f.most characters is cut.
func (f fence) text(s string) string {
	s = shorten(s, f.most)
	shown := fences.ReplaceAllString(showHidden(pages.Visible(s)), "‹$1")
	return "<untrusted " + f.nonce + ">" + shown + "</untrusted " + f.nonce + ">"
}

// marks matches the two ends of a fence as this server writes them.
var marks = regexp.MustCompile(`</?untrusted [0-9a-f]{16}>`)

func fencedWhole(value any) bool {
	text := as[string](value)
	at := marks.FindStringIndex(text)
	return at != nil && at[0] == 0
}

// withoutMarks returns a copy of arguments without this server's marks, for texts that a model passes on with their fence. Text
// that only resembles a mark stays.
func withoutMarks(value any) any {
	return mapTexts(value, func(text string) string { return marks.ReplaceAllString(text, "") })
}

func mapTexts(value any, change func(string) string) any {
	switch value := value.(type) {
	case object:
		changed := make(object, len(value))
		for name, member := range value {
			changed[name] = mapTexts(member, change)
		}
		return changed
	case []any:
		changed := make([]any, len(value))
		for i, element := range value {
			changed[i] = mapTexts(element, change)
		}
		return changed
	case string:
		return change(value)
	}
	return value
}

// leastHidden is the least number of characters that a cut must remove.
const leastHidden = 100

// shorten cuts a text after its first most characters and adds the number of the others, unless that saves little; 0 cuts nothing.
func shorten(s string, most int) string {
	characters := []rune(s)
	left := len(characters) - most
	marker := fmt.Sprintf("⟨%d more characters⟩", left)
	if most == 0 || left < utf8.RuneCountInString(marker)+leastHidden {
		return s
	}
	return string(characters[:most]) + marker
}

func showHidden(s string) string {
	if strings.IndexFunc(s, text.Hidden) < 0 {
		return s
	}
	var shown strings.Builder
	for _, r := range s {
		if text.Hidden(r) {
			fmt.Fprintf(&shown, "⟨U+%04X⟩", r)
		} else {
			shown.WriteRune(r)
		}
	}
	return shown.String()
}

// forms tells the server's own texts in a value from agents' texts: the OpenAPI description gives them a form that no prose has.
// It joins all schemas that may apply to the value. A text without a schema has no form.
type forms struct {
	// texts are the forms of a text: one must match. free is set if some schema allows any text.
	texts []func(string) bool
	free  bool
	// ours marks a text that the server or its operators write.
	ours bool
	// members and elements are the forms of the values inside; other is the form of members that the schema does not name.
	members         map[string]*forms
	elements, other *forms
}

// formed are the formats of JSON Schema that no prose has.
var formed = map[string]*regexp.Regexp{
	"uuid":      regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`),
	"date-time": regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}Z$`),
}

// add joins a schema to the forms; a nil schema adds nothing.
func (f *forms) add(d *openapi.Description, schema *openapi.Schema) {
	if schema = d.Follow(schema); schema == nil {
		return
	}
	for _, one := range slices.Concat(schema.AllOf, schema.AnyOf, schema.OneOf) {
		f.add(d, one)
	}
	for name, member := range schema.Properties {
		if f.members == nil {
			f.members = make(map[string]*forms)
		}
		f.members[name] = joined(f.members[name], d, member)
	}
	f.elements = joined(f.elements, d, schema.Items)
	f.other = joined(f.other, d, schema.Others)
	switch form := formOf(schema); {
	case form != nil:
		f.texts = append(f.texts, form)
	case schema.Type == "string":
		f.free = true
	}
}

func joined(f *forms, d *openapi.Description, schema *openapi.Schema) *forms {
	if schema == nil {
		return f
	}
	if f == nil {
		f = new(forms)
	}
	f.add(d, schema)
	return f
}

// formOf is the form that a schema gives to texts, nil for none.
func formOf(schema *openapi.Schema) func(string) bool {
	if only, ok := schema.Const.(string); ok {
		return func(s string) bool { return s == only }
	}
	if schema.Enum != nil {
		return func(s string) bool { return slices.Contains(schema.Enum, any(s)) }
	}
	if schema.Pattern != "" {
		return compiled(schema.Pattern).MatchString
	}
	if format := formed[schema.Format]; format != nil {
		return format.MatchString
	}
	return nil
}

// patterns caches compiled patterns. A pattern is used in hundreds of places, and each copy would take 10 KiB permanently.
var patterns sync.Map

func compiled(pattern string) *regexp.Regexp {
	known, ok := patterns.Load(pattern)
	if !ok {
		known, _ = patterns.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return as[*regexp.Regexp](known)
}

// own reports whether a text is the server's. A text with white space never is, even if a pattern allows it.
func (f *forms) own(s string) bool {
	if f != nil && f.ours {
		return true
	}
	if f == nil || f.free || strings.ContainsAny(s, " \t\n<>") {
		return false
	}
	return slices.ContainsFunc(f.texts, func(fits func(string) bool) bool { return fits(s) })
}

// trust marks the texts in all members with one of the names as written by the server or its operators.
func (f *forms) trust(names []string) {
	if f == nil {
		return
	}
	for member, inner := range f.members {
		inner.ours = inner.ours || slices.Contains(names, member)
		inner.trust(names)
	}
	f.elements.trust(names)
}

// member returns the forms of a member of an object. The description does not list the members of an action's template. A member
// there that ends in _id is an id, because the server chooses the names.
func (f *forms) member(name string) *forms {
	switch {
	case f == nil:
		return nil
	case f.ours:
		return f
	case f.members[name] != nil:
		return f.members[name]
	case f.other != nil && strings.HasSuffix(name, "_id"):
		return &forms{texts: []func(string) bool{formed["uuid"].MatchString}}
	default:
		return f.other
	}
}

func (f *forms) element() *forms {
	if f == nil || f.ours {
		return f
	}
	return f.elements
}
