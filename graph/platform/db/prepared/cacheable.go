package prepared

import (
	"slices"
	"strings"
	"unicode"
)

// PlanPerValue at the beginning of a statement keeps it out of the cache:
// PostgreSQL plans it anew for the values of every call. It is for statements
// whose good plan depends on the value, such as a substring search.
const PlanPerValue = "/* plan per value */"

// planned are the first words of the statements that PostgreSQL plans. COPY must not be among
// them (lib/pq's Prepare would start it), nor CALL (a procedure may commit, so
// a failed one must not be repeated).
var planned = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "MERGE", "VALUES", "TABLE"}

// cacheable reports whether a statement with this number of arguments is prepared under a name and cached.
func cacheable(query string, args int) bool {
	if args == 0 || strings.HasPrefix(strings.TrimLeft(query, whitespace), PlanPerValue) {
		return false
	}
	word := firstWord(query)
	return slices.ContainsFunc(planned, func(p string) bool { return strings.EqualFold(p, word) })
}

const whitespace = " \t\r\n\f\v"

// firstWord returns the letters that follow leading white space and comments.
// Where comments nest it may stop early, at a word that is not planned or that
// lib/pq's look for COPY stops at as well.
func firstWord(query string) string {
	for {
		query = strings.TrimLeft(query, whitespace)
		switch {
		case strings.HasPrefix(query, "--"):
			_, query, _ = strings.Cut(query, "\n")
		case strings.HasPrefix(query, "/*"):
			// lib/pq takes "/*/" for a whole comment, hence 1 and not 2.
			_, query, _ = strings.Cut(query[1:], "*/")
		default:
			end := strings.IndexFunc(query, func(r rune) bool { return !unicode.IsLetter(r) })
			if end < 0 {
				end = len(query)
			}
			return query[:end]
		}
	}
}
