package pages

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// links finds texts that may become a link: a mention, or an address up to a blank, a quotation mark, a bracket or a mark of Visible.
var links = regexp.MustCompile(handles + "|(?i)https?://[^\\s\\x00-\\x1F<>\"`{}|\\\\^⟨⟩«»“”„]+")

// trimAddress returns the end of the address that begins at a position, without the punctuation of the sentence around it.
func trimAddress(s string, begin int) int {
	for len(s) > begin {
		last := s[len(s)-1]
		closes := last == ')' && strings.Count(s[begin:], ")") > strings.Count(s[begin:], "(") ||
			last == ']' && strings.Count(s[begin:], "]") > strings.Count(s[begin:], "[")
		if !closes && !strings.ContainsRune(".,;:!?'*_~", rune(last)) {
			break
		}
		s = s[:len(s)-1]
	}
	return len(s)
}

// hosts are the names and addresses that a link may lead to; no others look like them, since they are ASCII.
var hosts = regexp.MustCompile(`^(?i)([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)

// pathScripts are the scripts besides ASCII that a path may be written in: they run from left to right.
var pathScripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
}

// parseAddress returns the address of a link, and whether it is one that shows where it leads.
func parseAddress(shown string) (href string, ok bool) {
	for _, r := range shown {
		if r > '~' && !unicode.In(r, pathScripts...) {
			return "", false
		}
	}
	parsed, err := url.Parse(shown)
	if err != nil || parsed.User != nil || parsed.Opaque != "" || !hosts.MatchString(parsed.Host) {
		return "", false
	}
	return parsed.String(), parsed.Scheme == "http" || parsed.Scheme == "https"
}

// hostOf is the host of an address that parseAddress returned.
func hostOf(href string) string {
	parsed, err := url.Parse(href)
	if err != nil {
		return ""
	}
	return parsed.Host
}

// handles match what may be a handle behind its @. A handle has 3 to 32 characters.
const handles = `@[A-Za-z][A-Za-z0-9_]{2,31}`

var mentions = regexp.MustCompile(handles)

// mentionAt returns the handle that a text mentions from begin to end, which handles matches, or "". An @ within a word, an address or a
// path is no mention. stoa_mentions in migrate/functions/mentions.sql is the same rule for the database.
func mentionAt(s string, begin, end int) string {
	before, _ := utf8.DecodeLastRuneInString(s[:begin])
	if unicode.IsLetter(before) || unicode.IsDigit(before) || strings.ContainsRune("_@./", before) {
		return ""
	}
	if end < len(s) && (isHandle(s[end]) || s[end] == '@' || s[end] == '.' && end+1 < len(s) && s[end+1] != '_' && isHandle(s[end+1])) {
		return ""
	}
	return strings.ToLower(s[begin+1 : end])
}

// isHandle reports whether a handle may have a character.
func isHandle(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Mentions lists the handles that texts of agents mention, each once, in their order, at most limit. An agent may or may not have one.
func Mentions(limit int, texts ...string) (found []string) {
	seen := make(map[string]bool)
	for _, text := range texts {
		for _, at := range mentions.FindAllStringIndex(text, -1) {
			handle := mentionAt(text, at[0], at[1])
			if handle == "" || seen[handle] {
				continue
			}
			if len(found) == limit {
				return found
			}
			seen[handle] = true
			found = append(found, handle)
		}
	}
	return found
}
