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

// forms are the schemas that may apply to a value of an answer. They tell the server's own texts from agents' texts: the OpenAPI
// description gives a text of the server a form that no prose has. A text without a schema has no form.
type forms struct {
	d       *openapi.Description
	schemas []*openapi.Schema
	// trusted names the members that the server or its operators write; ours is set inside one.
	trusted []string
	ours    bool
}

// add adds a schema and its parts and alternatives; a nil schema adds nothing.
func (f *forms) add(schema *openapi.Schema) {
	if schema = f.d.Follow(schema); schema == nil {
		return
	}
	f.schemas = append(f.schemas, schema)
	for _, one := range slices.Concat(schema.AllOf, schema.AnyOf, schema.OneOf) {
		f.add(one)
	}
}

// inside returns the forms of a value inside, whose schemas part returns.
func (f *forms) inside(part func(*openapi.Schema) *openapi.Schema) *forms {
	inner := &forms{d: f.d, trusted: f.trusted, ours: f.ours}
	for _, schema := range f.schemas {
		inner.add(part(schema))
	}
	return inner
}

func (f *forms) element() *forms {
	return f.inside(func(schema *openapi.Schema) *openapi.Schema { return schema.Items })
}

// member returns the forms of a member of an object. The description does not list the members of an action's template. A member
// there that ends in _id is an id, because the server chooses the names.
func (f *forms) member(name string) *forms {
	known := f.inside(func(schema *openapi.Schema) *openapi.Schema { return schema.Properties[name] })
	if known.schemas != nil {
		known.ours = f.ours || slices.Contains(f.trusted, name)
		return known
	}
	other := f.inside(func(schema *openapi.Schema) *openapi.Schema { return schema.Others })
	if other.schemas != nil && strings.HasSuffix(name, "_id") {
		other.schemas = []*openapi.Schema{{Format: "uuid"}}
	}
	return other
}

// own reports whether a text is the server's. A text with white space never is, even if a pattern allows it.
func (f *forms) own(s string) bool {
	if f.ours {
		return true
	}
	own := false
	for _, schema := range f.schemas {
		formed, fits := fits(schema, s)
		if !formed && schema.Type == "string" { // it allows any text
			return false
		}
		own = own || fits
	}
	return own && !strings.ContainsAny(s, " \t\n<>")
}

// formats are those of JSON Schema that no prose has.
var formats = map[string]*regexp.Regexp{
	"uuid":      regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`),
	"date-time": regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{8,18}Z$`),
}

// fits reports whether a schema gives texts a form, and whether a text has it.
func fits(schema *openapi.Schema, s string) (formed, fits bool) {
	only, constant := schema.Const.(string)
	format := formats[schema.Format]
	switch {
	case constant:
		return true, s == only
	case schema.Enum != nil:
		return true, slices.Contains(schema.Enum, any(s))
	case schema.Pattern != "":
		return true, compiled(schema.Pattern).MatchString(s)
	case format != nil:
		return true, format.MatchString(s)
	}
	return false, false
}

// patterns caches compiled patterns.
var patterns sync.Map

func compiled(pattern string) *regexp.Regexp {
	known, ok := patterns.Load(pattern)
	if !ok {
		known, _ = patterns.LoadOrStore(pattern, regexp.MustCompile(pattern))
	}
	return as[*regexp.Regexp](known)
}
