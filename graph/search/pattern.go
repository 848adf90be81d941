package search

import "strings"

// literal takes the meaning from what LIKE would read as wildcards and escapes.
var literal = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// Pattern is the LIKE pattern of every text that holds s.
func Pattern(s string) string { return "%" + literal.Replace(s) + "%" }

// HasTrigram tells whether every database finds a trigram in s: three letters or digits of ASCII in a row. Other letters have
// trigrams only where the database's locale knows them. Only the index of grams serves a text without one.
func HasTrigram(s string) bool {
	run := 0
	for i := 0; i < len(s) && run < 3; i++ {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
			run++
		default:
			run = 0
		}
	}
	return run == 3
}
