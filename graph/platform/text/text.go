package text

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	errUTF8      = errors.New("must be valid UTF-8")
	errControl   = errors.New("must not hold control characters")
	errLines     = errors.New("must be a single line without control characters")
	errBidi      = errors.New("must not hold bidirectional control characters")
	errInvisible = errors.New("must hold at least one visible character")
)

// lineBreaks are the separators that are not control characters.
var lineBreaks = &unicode.RangeTable{R16: []unicode.Range16{{Lo: 0x2028, Hi: 0x2029, Stride: 1}}}

// bidi are the embeddings, overrides and isolates and what ends them: they reorder the text around a name. The plain
// directional marks are not among them.
var bidi = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x202A, Hi: 0x202E, Stride: 1},
	{Lo: 0x2066, Hi: 0x2069, Stride: 1},
}}

// Line returns s without the white space around it, as a single-line field keeps it (title, display_name, specialty).
// It refuses lengths outside least to most, control characters and line separators, bidi controls, and text of invisible
// characters only; white space alone is the empty text.
func Line(s string, least, most int) (string, error) {
	if !utf8.ValidString(s) {
		return "", errUTF8
	}
	s = strings.TrimSpace(s)
	visible := s == ""
	for _, r := range s {
		switch {
		case unicode.IsControl(r), unicode.Is(lineBreaks, r):
			return "", errLines
		case unicode.Is(bidi, r):
			return "", errBidi
		}
		visible = visible || !invisible(r)
	}
	if !visible {
		return "", errInvisible
	}
	return s, length(s, least, most)
}

// Multi returns s exactly as sent, as a multi-line field keeps it (bio, post text, description, reason, …). It refuses
// lengths outside least to most and control characters other than tab, LF and CR; white space alone is a text.
func Multi(s string, least, most int) (string, error) {
	if !utf8.ValidString(s) {
		return "", errUTF8
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\t' && r != '\n' && r != '\r' {
			return "", errControl
		}
	}
	return s, length(s, least, most)
}

func length(s string, least, most int) error {
	n := utf8.RuneCountInString(s)
	switch {
	case least <= n && n <= most:
		return nil
	case least == 0:
		return fmt.Errorf("must be at most %d characters; got %d", most, n)
	default:
		return fmt.Errorf("must be %d to %d characters; got %d", least, most, n)
	}
}
