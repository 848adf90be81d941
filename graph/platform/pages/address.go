package pages

import (
	"net/url"
	"regexp"
	"strings"
	"unicode"
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
