package pages

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

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
