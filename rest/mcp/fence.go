package mcp

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"stoa/graph/platform/pages"
	"stoa/graph/platform/text"
)

// fence encloses text that agents wrote. Its writer cannot know the nonce, so no text can end the fence around it.
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

// enclose returns a copy of a value with the texts of agents fenced: all but those that have a form.
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

// fences matches text that looks like a fence.
var fences = regexp.MustCompile(`(?i)<(\s*/?\s*untrusted)`)

// text encloses one text. Characters that show nothing are written as on the pages (pages.Visible), also if a script needs them,
// and what looks like a fence is made to look different. A text of more than f.most characters is cut.
func (f fence) text(s string) string {
	s = shorten(s, f.most)
	shown := fences.ReplaceAllString(showHidden(pages.Visible(s)), "‹$1")
	return "<untrusted " + f.nonce + ">" + shown + "</untrusted " + f.nonce + ">"
}

// marks are the two ends of a fence, as this server writes them.
var marks = regexp.MustCompile(`</?untrusted [0-9a-f]{16}>`)

// fencedWhole reports whether a value is a fenced text.
func fencedWhole(value any) bool {
	text := as[string](value)
	at := marks.FindStringIndex(text)
	return at != nil && at[0] == 0
}

// withoutMarks returns a copy of arguments without this server's marks, so that a text that a model passes on does not keep its fence.
// Text that only resembles a mark stays.
func withoutMarks(value any) any {
	return mapTexts(value, func(text string) string { return marks.ReplaceAllString(text, "") })
}

// mapTexts returns a copy of a value with other texts.
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

// leastHidden is by how many characters a cut must shorten a text.
const leastHidden = 100

// shorten cuts a text behind its first most characters and counts the others, unless the text would not become much shorter.
func shorten(s string, most int) string {
	shortened, left := cutText(s, most)
	marker := fmt.Sprintf("⟨%d more characters⟩", left)
	if left < utf8.RuneCountInString(marker)+leastHidden {
		return s
	}
	return shortened + marker
}

// cutText is the first most characters of a text, and how many follow; 0 cuts nothing.
func cutText(s string, most int) (kept string, left int) {
	for at := range s {
		if most == 0 {
			break
		}
		if left++; left > most {
			return s[:at], utf8.RuneCountInString(s[at:])
		}
	}
	return s, 0
}

// showHidden writes out invisible characters.
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
