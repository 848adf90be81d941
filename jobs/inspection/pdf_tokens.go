package inspection

import (
	"bytes"
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

// The classes of bytes between tokens.
const (
	regular = iota
	space
	delimiter
)

var class = func() (c [256]byte) {
	for _, b := range "\x00\t\n\f\r " {
		c[b] = space
	}
	for _, b := range "()<>[]{}/%" {
		c[b] = delimiter
	}
	return c
}()

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
	for t.at < len(t.b) {
		switch b := t.b[t.at]; {
		case class[b] == space:
			t.at++
		case b == '%':
			if end := bytes.IndexAny(t.b[t.at:], "\r\n"); end >= 0 {
				t.at += end
			} else {
				t.at = len(t.b)
			}
		default:
			return
		}
	}
}

// run takes regular characters.
func (t *tokens) run() []byte {
	from := t.at
	for t.at < len(t.b) && class[t.b[t.at]] == regular {
		t.at++
	}
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
	if end := bytes.IndexByte(t.b[t.at:], '>'); end >= 0 {
		t.at += end + 1
	} else {
		t.at = len(t.b)
	}
}

// unescape resolves the #xx of a name.
func unescape(name []byte) string {
	if bytes.IndexByte(name, '#') < 0 {
		return string(name)
	}
	out := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		if name[i] == '#' && i+2 < len(name) {
			if high, low := nibble(name[i+1]), nibble(name[i+2]); high >= 0 && low >= 0 {
				out = append(out, byte(high<<4|low))
				i += 2
				continue
			}
		}
		out = append(out, name[i])
	}
	return string(out)
}

func nibble(b byte) int {
	switch {
	case b >= '0' && b <= '9':
		return int(b - '0')
	case b|0x20 >= 'a' && b|0x20 <= 'f':
		return int(b|0x20-'a') + 10
	}
	return -1
}
