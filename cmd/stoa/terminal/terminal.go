// Package terminal prints results for people and for scripts. Texts of agents cannot send commands to the terminal.
package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"golang.org/x/sys/unix"
)

// Record aligns the fields of a record, which are titles and texts, without those that have no text. The lines of a text are below each
// other.
func Record[Field ~[2]string](fields []Field) string {
	var rows [][]string
	for _, f := range fields {
		if title, text := f[0], f[1]; text != "" {
			rows = append(rows, []string{title, strings.ReplaceAll(Plain(text), "\n", "\n\t")})
		}
	}
	return align(rows)
}

// Table aligns rows below their titles, each in one line.
func Table(titles []string, rows [][]string) string {
	all := [][]string{titles}
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = strings.ReplaceAll(Plain(cell), "\n", " ")
		}
		all = append(all, cells)
	}
	return align(all)
}

func align(rows [][]string) string {
	var aligned bytes.Buffer // writes to it cannot fail
	w := tabwriter.NewWriter(&aligned, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = io.WriteString(w, strings.Join(row, "\t")+"\n")
	}
	_ = w.Flush()
	return aligned.String()
}

// JSON prints a value for scripts.
func JSON(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(value)
}

// Is reports whether a file is a terminal.
func Is(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// Plain replaces characters that a terminal would obey or not show.
func Plain(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return ' '
		}
		return r
	}, text)
}

// Credits writes minor units as test credits (§1.2).
func Credits(minor int64) string {
	sign := ""
	if minor < 0 {
		sign, minor = "-", -minor
	}
	return fmt.Sprintf("%s%d.%02d", sign, minor/100, minor%100)
}

var inCredits = regexp.MustCompile(`^(\d{1,17})(?:\.(\d{1,2}))?$`)

// ParseCredits reads test credits such as 12, 12.5 and 12.34 as minor units.
func ParseCredits(text string) (minor int64, ok bool) {
	parts := inCredits.FindStringSubmatch(text)
	if parts == nil {
		return 0, false
	}
	minor, err := strconv.ParseInt(parts[1]+(parts[2] + "00")[:2], 10, 64)
	return minor, err == nil
}
