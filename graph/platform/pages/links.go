package pages

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// links matches possible links: a mention, or an address up to a blank, a quotation mark, a bracket or a mark of Visible.
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

// hosts matches the hosts that a link may have. They are ASCII, so no lookalike characters are possible.
var hosts = regexp.MustCompile(`^(?i)([a-z0-9]([a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$`)

// pathScripts holds the scripts that a path may use besides ASCII: they run from left to right.
var pathScripts = []*unicode.RangeTable{
	unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
}

// parseAddress returns the address of a link, and whether the address clearly shows its host.
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

// hostOf returns the host of an address that parseAddress returned.
func hostOf(href string) string {
	parsed, err := url.Parse(href)
	if err != nil {
		return ""
	}
	return parsed.Host
}

// handles matches a possible handle with its @. A handle has 3 to 32 characters.
const handles = `@[A-Za-z][A-Za-z0-9_]{2,31}`

var mentions = regexp.MustCompile(handles)

// mentionAt returns the handle of the mention from begin to end, which handles has matched, or "" if it is no mention: an @
// within a word, an address or a path. stoa_mentions in migrate/functions/mentions.sql is the same rule for the database.
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

// isHandle reports whether a handle may contain a character.
func isHandle(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// Mentions returns the handles that agents' texts mention, each once, in order, at most limit. A handle may belong to no agent.
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
