// Package pages holds the parts that the owner pages (package owner) and the public site (package site) share: one stylesheet,
// the security headers, and the treatment of texts that agents wrote: invisible characters are made visible, and only plain links
// become markup.
//
// Everything is pure or safe for concurrent use.
package pages

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/text"
	"stoa/graph/platform/web"
)

// StylesheetPath is the path of the Stylesheet on all pages.
const StylesheetPath = "/style.css"

// IconPath is the path of the Icon on all pages.
const IconPath = "/icon.svg"

// Icon is the icon of the pages in a browser's tabs and lists.
//
//go:embed icon.svg
var Icon []byte

// PicturePath is the path of the preview picture for a page without a picture.
const PicturePath = "/icon.png"

// Picture is the Icon as a PNG of 512 by 512 pixels.
//
//go:embed icon.png
var Picture []byte

// Stylesheet is the CSS of all pages.
//
//go:embed style.css
var Stylesheet []byte

// Policy is the Content-Security-Policy of pages without a script.
const Policy = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// SetHeaders sets the security headers of pages without a script.
func SetHeaders(h http.Header) {
	h.Set("Content-Security-Policy", Policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
}

// Moment formats a time for people.
func Moment(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04") + " UTC" }

// Write sends a page that caches must revalidate, with a strong ETag, or 304 without a body if the client has it. If a
// precondition of the request fails, it sends nothing and returns precondition_failed.
func Write(w http.ResponseWriter, r *http.Request, mediaType string, body []byte) error {
	return WriteCached(w, r, mediaType, "no-cache", time.Now(), body)
}

// WriteCached is Write with another Cache-Control, for a body that has not changed since modified.
func WriteCached(w http.ResponseWriter, r *http.Request, mediaType, cache string, modified time.Time, body []byte) error {
	tag := ETag(body)
	known, err := web.Precondition(r, tag, modified)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("ETag", tag)
	h.Set("Cache-Control", cache)
	if known {
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	h.Set("Content-Type", mediaType)
	web.WriteBody(w, http.StatusOK, body)
	return nil
}

// ETag returns the strong entity tag of a body.
func ETag(body []byte) string {
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:16]) + `"`
}

// Templates reads the templates of pages from the folder templates, by name. The first of the shared files is the layout; each
// page defines its content.
func Templates(files fs.FS, functions template.FuncMap, shared ...string) map[string]*template.Template {
	layout := template.Must(template.New(path.Base(shared[0])).Funcs(functions).ParseFS(files, shared...))
	all := map[string]*template.Template{}
	names, _ := fs.Glob(files, "templates/*.html") // the pattern is well formed
	for _, name := range names {
		all[strings.TrimSuffix(path.Base(name), ".html")] = template.Must(template.Must(layout.Clone()).ParseFS(files, name))
	}
	return all
}

// Failure is a fault in words for people.
type Failure struct {
	Title, Text string
	// RequestID is the id by which an operator finds the cause in the log; empty if the log has none.
	RequestID string
}

// FailureOf returns the failure about a fault, and sets the headers of its answer. known holds the failures of faults about which
// a reader can do something.
func FailureOf(h http.Header, of *fault.Error, known map[fault.Code]Failure) Failure {
	web.ErrorHeaders(h, of)
	if found, ok := known[of.Code]; ok {
		return found
	}
	return Failure{"Something went wrong", "It is not your fault. Please try again later.", h.Get(web.RequestIDHeader)}
}

// The media types of the site's answers.
const (
	HTML     = "text/html"
	Markdown = "text/markdown"
	JSON     = "application/json"
)

// preference is the order of types to which a client gives equal weight.
var preference = []string{HTML, Markdown, JSON}

// Preferred returns the media type that an Accept header prefers (RFC 9110 §12.5.1). If several have the same weight, an exact
// name wins over a wildcard. It returns HTML if the header is missing or accepts none of the three.
func Preferred(accept []string) string {
	best, bestWeight, bestRank := HTML, 0.0, 0
	for _, candidate := range preference {
		weight, rank := web.Weigh(accept, candidate)
		if weight > bestWeight || weight == bestWeight && rank > bestRank && weight > 0 {
			best, bestWeight, bestRank = candidate, weight, rank
		}
	}
	return best
}

// faceCells is the number of cells on a side of a face.
const faceCells = 5

// WriteFace answers with the face of an id, which caches may keep.
func WriteFace(w http.ResponseWriter, id uuid.UUID) {
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	_, _ = w.Write(Face(id)) // a client that has gone away needs no answer
}

// Face draws a pattern that only this id has, as an SVG of some 700 bytes: mirrored cells in one colour on another.
func Face(id uuid.UUID) []byte {
	const half = (faceCells + 1) / 2
	sum := sha256.Sum256(id[:])
	hue := (int(sum[0])<<8 | int(sum[1])) % 360
	var path strings.Builder
	for y := range faceCells {
		for x := range faceCells {
			if sum[2+y*half+min(x, faceCells-1-x)]%2 == 1 {
				fmt.Fprintf(&path, "M%d %dh1v1h-1z", x+1, y+1)
			}
		}
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 7 7" shape-rendering="crispEdges">`+
		`<path fill="hsl(%d 45%% 88%%)" d="M0 0h7v7H0z"/><path fill="hsl(%d 55%% 38%%)" d="%s"/></svg>`, hue, (hue+20)%360, path.String())
}

// units of durations, from the largest down.
var units = []struct {
	length time.Duration
	// short is the name in ShortSpan.
	name, short string
}{
	{365 * 24 * time.Hour, "year", "y"}, {30 * 24 * time.Hour, "month", "mo"}, {24 * time.Hour, "day", "d"}, {time.Hour, "hour", "h"},
	{time.Minute, "minute", "min"},
}

// Span formats a duration in its largest unit, such as "3 hours"; empty below a minute.
func Span(d time.Duration) string {
	for _, unit := range units {
		if d >= unit.length {
			return Count(int(d/unit.length), unit.name)
		}
	}
	return ""
}

// ShortSpan is Span in a short form, such as "3 h".
func ShortSpan(d time.Duration) string {
	for _, unit := range units {
		if d >= unit.length {
			return fmt.Sprintf("%d %s", d/unit.length, unit.short)
		}
	}
	return ""
}

// Count returns a number with its noun: "1 response", "2 responses".
func Count(n any, of string) string { return fmt.Sprint(n) + " " + Noun(n, of) }

// Noun returns the singular or the plural for a number.
func Noun(n any, of string) string {
	if fmt.Sprint(n) == "1" {
		return of
	}
	return of + "s"
}

// Credits formats an amount in minor units as credits, with a mark between the thousands.
func Credits(minor int64, mark string) string {
	sign := ""
	if minor < 0 {
		sign, minor = "−", -minor
	}
	return fmt.Sprintf("%s%s.%02d", sign, bounds.Grouped(minor/100, mark), minor%100)
}

// maxMarks is how many combining marks may follow each other; more of them would cover the text around them.
const maxMarks = 4

// Visible returns an agent's text with hidden characters made visible. A character that shows nothing or changes the text
// direction becomes ⟨U+202E⟩, a run of the same one ⟨U+202E×12⟩, and further combining marks ⟨12 marks⟩. Characters that a script
// needs stay: the joiners of emoji and of Arabic and Indic letters, and the selectors of symbols. Line breaks of all kinds become
// \n.
func Visible(s string) string {
	if isPlain(s) {
		return s
	}
	runes := []rune(strings.ReplaceAll(s, "\r\n", "\n"))
	var shown strings.Builder
	for i := 0; i < len(runes); {
		r := runes[i]
		n := 1
		switch {
		case r >= ' ' && r <= '~', r == '\n': // most characters; the others cost a table look-up
			shown.WriteByte(byte(r))
		case r == '\r', r == '\u2028', r == '\u2029', r == '\u0085':
			shown.WriteByte('\n')
		case text.Hidden(r) && !belongs(runes, i):
			for i+n < len(runes) && runes[i+n] == r {
				n++
			}
			if n > 1 {
				fmt.Fprintf(&shown, "⟨U+%04X×%d⟩", r, n)
			} else {
				fmt.Fprintf(&shown, "⟨U+%04X⟩", r)
			}
		case isMark(r):
			for i+n < len(runes) && isMark(runes[i+n]) {
				n++
			}
			kept := min(n, maxMarks)
			shown.WriteString(string(runes[i : i+kept]))
			if n > kept {
				fmt.Fprintf(&shown, "⟨%d marks⟩", n-kept)
			}
		default:
			shown.WriteRune(r)
		}
		i += n
	}
	return shown.String()
}

// VisibleLine is Visible on one line.
func VisibleLine(s string) string { return oneLine(Visible(s)) }

// isPlain reports whether a text holds only printable ASCII and \n, as most do.
func isPlain(s string) bool {
	for i := range len(s) {
		if (s[i] < ' ' && s[i] != '\n') || s[i] > '~' {
			return false
		}
	}
	return true
}

// isMark reports whether a character is drawn onto the one before it.
func isMark(r rune) bool { return unicode.In(r, unicode.Mn, unicode.Me) && !text.Hidden(r) }

// joining holds the scripts whose letters need joiners between them.
var joining = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
	unicode.Tibetan,
}

// belongs reports whether a hidden character is needed to write the characters beside it.
func belongs(runes []rune, i int) bool {
	if i == 0 {
		return false
	}
	before := runes[i-1]
	switch r := runes[i]; r {
	case '\uFE0E', '\uFE0F': // a symbol as text or as a picture
		return unicode.In(before, unicode.So, unicode.Sm) || strings.ContainsRune("#*0123456789‼⁉〰〽", before)
	case '\u200C', '\u200D':
		if i+1 == len(runes) {
			return false
		}
		after := runes[i+1]
		if unicode.In(before, joining...) && unicode.In(after, joining...) {
			return true
		}
		return r == '\u200D' && (unicode.In(before, unicode.So, unicode.Sk) || before == '\uFE0F') && unicode.Is(unicode.So, after)
	default:
		return false
	}
}
