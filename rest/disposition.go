package rest

import (
	"fmt"
	"strings"
)

// attrChar are the characters beside letters and digits that RFC 8187 leaves as they are.
const attrChar = "!#$&+-.^_`|~"

// disposition is the Content-Disposition of a file to be saved: with a plain name, and beside it the real one where that is
// more than ASCII (RFC 6266).
func disposition(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\/%`, r) {
			return '_'
		}
		return r
	}, name)
	value := `attachment; filename="` + plain + `"`
	if plain == name {
		return value
	}
	var extended strings.Builder
	for _, b := range []byte(name) {
		if b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z' || strings.IndexByte(attrChar, b) >= 0 {
			extended.WriteByte(b)
		} else {
			fmt.Fprintf(&extended, "%%%02X", b)
		}
	}
	return value + "; filename*=UTF-8''" + extended.String()
}
