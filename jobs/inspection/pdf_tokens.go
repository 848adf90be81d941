package inspection

import (
	"bytes"
	"encoding/hex"
	"regexp"
	"strings"
)

// tokenKind is a lexical class of PDF (ISO 32000-2, 7.2 and 7.3).
type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenString
	tokenNumber
	tokenKeyword
	tokenOpen
	tokenClose
)

// token is one token; text is a name with its #xx escapes resolved, or a keyword.
type token struct {
	kind tokenKind
	text string
}

// tokens reads PDF tokens from untrusted bytes: it always advances, allocates only for names and keywords, and accepts damaged
// input.
type tokens struct {
	b  []byte
	at int
	// from is where the token that next returned begins.
	from int
}

// The bytes between tokens; all others are regular.
const (
	spaces     = "\x00\t\n\f\r "
	delimiters = "()<>[]{}/%"
)

// next returns the following token, tokenEnd after the last.
func (t *tokens) next() token {
	t.skip()
	t.from = t.at
	if t.at >= len(t.b) {
		return token{}
	}
	switch b := t.b[t.at]; b {
	case '/':
		t.at++
		return token{tokenName, unescape(t.run())}
	case '(':
		t.literal()
		return token{kind: tokenString}
	case '<', '>':
		if t.at+1 < len(t.b) && t.b[t.at+1] == b {
			t.at += 2
			return token{kind: bracket(b)}
		}
		if b == '>' {
			t.at++
			return t.next()
		}
		t.hex()
		return token{kind: tokenString}
	case '[', ']', '{', '}':
		t.at++
		return token{kind: bracket(b)}
	case ')':
		t.at++
		return token{kind: tokenKeyword, text: ")"}
	}
	word := t.run()
	if strings.IndexByte("+-.0123456789", word[0]) >= 0 {
		return token{kind: tokenNumber}
	}
	return token{tokenKeyword, string(word)}
}

func bracket(b byte) tokenKind {
	if b == '<' || b == '[' || b == '{' {
		return tokenOpen
	}
	return tokenClose
}

// skip passes white space and comments.
func (t *tokens) skip() {
	for {
		t.at = len(t.b) - len(bytes.TrimLeft(t.b[t.at:], spaces))
		if t.at == len(t.b) || t.b[t.at] != '%' {
			return
		}
		t.until("\r\n")
	}
}

// until passes the bytes before the first one of a set.
func (t *tokens) until(set string) {
	if end := bytes.IndexAny(t.b[t.at:], set); end >= 0 {
		t.at += end
	} else {
		t.at = len(t.b)
	}
}

// run takes regular characters.
func (t *tokens) run() []byte {
	from := t.at
	t.until(spaces + delimiters)
	return t.b[from:t.at]
}

// literal passes a string in parentheses, which nest.
func (t *tokens) literal() {
	for depth := 0; t.at < len(t.b); {
		b := t.b[t.at]
		t.at++
		switch b {
		case '\\':
			t.at++
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return
			}
		}
	}
	t.at = len(t.b)
}

// hex passes a string in angle brackets.
func (t *tokens) hex() {
	t.until(">")
	t.at = min(t.at+1, len(t.b))
}

// The escapes of names, and of addresses.
var (
	nameEscape    = regexp.MustCompile(`#[0-9A-Fa-f]{2}`)
	addressEscape = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
)

// unescape resolves the #xx of a name.
func unescape(name []byte) string {
	if bytes.IndexByte(name, '#') < 0 {
		return string(name)
	}
	return string(nameEscape.ReplaceAllFunc(name, unescaped))
}

// unescaped returns the byte that an escape writes.
func unescaped(escape []byte) []byte {
	b, _ := hex.DecodeString(string(escape[1:])) // both are digits
	return b
}
