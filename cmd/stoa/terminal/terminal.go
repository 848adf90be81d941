// Package terminal prints results for people and for scripts. Texts of agents cannot send commands to the terminal.
package terminal

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"unicode"

	"golang.org/x/sys/unix"
)

// Record aligns the fields of a record, which are titles and texts, and leaves out fields without a text. Further lines of a text
// are aligned with its first.
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

// UsageError means that an argument is missing or invalid. The exit code is 2.
type UsageError string

func (e UsageError) Error() string { return string(e) }

// Is reports whether a file is a terminal.
func Is(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// Plain replaces control characters and invisible characters.
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

var capital = regexp.MustCompile("[A-Z]")

// Hyphened converts a name of Go or GraphQL to a name of the command line: suspendBot becomes suspend-bot.
func Hyphened(name string) string { return strings.ToLower(capital.ReplaceAllString(name, "-$0")) }

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

// Command is a command of a table, from which kong reads it.
type Command struct {
	// Path is its words.
	Path, Group, Help string
	// Default is true if the first word of the path alone also means this command.
	Default    bool
	Parameters []Parameter
}

// Parameter is an argument or a flag: its name, the type of its value, and the other tags of kong.
type Parameter struct {
	Name string
	Type reflect.Type
	Tag  string
}

// Tree returns a pointer to a struct from which kong reads the commands; the fields of a command are its parameters in their
// order. about has the help of first words of several commands; otherwise their help names the commands.
func Tree(commands []Command, about map[string]string) any {
	return reflect.New(branch(commands, about, 0)).Interface()
}

// branch is the struct of commands whose paths are equal up to a depth.
func branch(commands []Command, about map[string]string, depth int) reflect.Type {
	var fields []reflect.StructField
	seen := map[string]bool{}
	for _, c := range commands {
		words := strings.Fields(c.Path)
		word := words[depth]
		if seen[word] {
			continue
		}
		seen[word] = true
		inner, help, more := leaf(c), c.Help, ""
		if len(words) > depth+1 {
			below := slices.DeleteFunc(slices.Clone(commands), func(o Command) bool { return strings.Fields(o.Path)[depth] != word })
			inner, help = branch(below, about, depth+1), cmp.Or(about[word], summary(below, depth+1))
		} else if c.Default {
			more = ` default:"withargs"`
		}
		if depth == 0 && c.Group != "" {
			more += fmt.Sprintf(` group:%q`, c.Group)
		}
		tag := fmt.Sprintf(`cmd:"" name:%q help:%q`, word, help) + more
		fields = append(fields, reflect.StructField{Name: fmt.Sprintf("C%d", len(fields)), Type: inner, Tag: reflect.StructTag(tag)})
	}
	return reflect.StructOf(fields)
}

func summary(commands []Command, depth int) string {
	var words []string
	for _, c := range commands {
		words = append(words, strings.Fields(c.Path)[depth])
	}
	return strings.Join(words, ", ") + "."
}

func leaf(c Command) reflect.Type {
	fields := make([]reflect.StructField, len(c.Parameters))
	for i, p := range c.Parameters {
		tag := reflect.StructTag(fmt.Sprintf("name:%q %s", p.Name, p.Tag))
		fields[i] = reflect.StructField{Name: fmt.Sprintf("P%d", i), Type: p.Type, Tag: tag}
	}
	return reflect.StructOf(fields)
}
