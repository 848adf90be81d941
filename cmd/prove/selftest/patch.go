package selftest

import (
	"bytes"
	"os"
	"strings"
)

// patch makes programs with a bug of a file that is embedded in the server, such as one of SQL: it puts the text with the bug into the
// server's program, in the place of the one that is there. That takes no compiler. done is false if the program is not known, does not
// have the file exactly once, or if the text with the bug does not fit into its place.
func (b Builder) patch(program, original, planted string) (done bool, err error) {
	if b.Program == "" {
		return false, nil
	}
	for _, end := range programs {
		content, err := os.ReadFile(b.Program + end)
		if err != nil {
			return false, err
		}
		if end == "" {
			text, fits := fitted(planted, len(original))
			if !fits || bytes.Count(content, []byte(original)) != 1 {
				return false, nil
			}
			content = bytes.Replace(content, []byte(original), []byte(text), 1)
		}
		if err := os.WriteFile(program+end, content, 0o700); err != nil { //nolint:gosec // a program
			return false, err
		}
	}
	return true, nil
}

// fitted returns SQL of that length in bytes: filled up with spaces, or without its first comments. fits is false if those are too short.
func fitted(text string, length int) (fitting string, fits bool) {
	for len(text) > length {
		begin, end := comment(text)
		if end == 0 {
			return "", false
		}
		text = text[:begin] + text[end:]
	}
	return text + strings.Repeat(" ", length-len(text)), true
}

// comment finds the first line that is nothing but a comment; end is 0 if the text has no such line. A line "-- name:" is no comment.
func comment(text string) (begin, end int) {
	for line := range strings.Lines(text) {
		end = begin + len(line)
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "-- ") && !strings.HasPrefix(trimmed, "-- name:") {
			return begin, end
		}
		begin = end
	}
	return 0, 0
}
