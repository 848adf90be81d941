package operatorcli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/cmd/stoa/terminal"
	"stoa/graph/console"
	"stoa/graph/platform/text"
)

type parameter struct {
	// field is the name in the schema, and of is the type of its value.
	field string
	of    *ast.Type
	help  string
	// within is the argument that this is a member of; empty for an argument.
	within string
	// optional: the schema has a default. standard is the command line's default.
	optional   bool
	standard   string
	positional bool
	// choices are the allowed values; empty allows any.
	choices []string
	// where makes a condition of a list from the value; nil for parameters that are not filters.
	where func(value any) map[string]any
}

// newParameter converts an argument of the schema, or a member of the argument within.
func newParameter(field, help string, of *ast.Type, optional bool, within string) parameter {
	p := parameter{field: field, of: of, help: help, within: within, optional: optional}
	switch field {
	case reasonField:
		p.optional, p.help = true, "Why, for the audit log; asked for on a terminal."
	case fileField:
		p.help = "File with the text; - reads standard input. " + help
	default:
		p.help = cmp.Or(help, console.Human(field)+".")
	}
	if strings.HasSuffix(field, "Minor") {
		p.help = "In credits, such as 12.50."
	}
	for _, one := range schema.Types[of.Name()].EnumValues {
		p.choices = append(p.choices, strings.ToLower(one.Name))
	}
	if p.positional = within == "" && p.required(); p.positional && p.choices != nil {
		p.help += " One of " + strings.Join(p.choices, ", ") + "."
	}
	return p
}

// reasonField is the argument that every procedure has. The value of fileField is read from a file.
const (
	reasonField = "reason"
	fileField   = "text"
)

// required reports whether the command needs the parameter. Booleans and lists may be left out.
func (p parameter) required() bool {
	return p.of.NonNull && !p.optional && p.of.Elem == nil && p.of.Name() != "Boolean"
}

func (p parameter) name() string {
	if name, known := flagNames[p.field]; known {
		return name
	}
	return strings.ReplaceAll(strings.ToLower(console.Human(p.field)), " ", "-")
}

func (p parameter) kind() reflect.Type {
	switch {
	case p.field == fileField && p.required():
		return reflect.TypeFor[[]byte]()
	case p.of.Elem != nil:
		return reflect.TypeFor[[]string]()
	case p.of.Name() == "Boolean" && (p.of.NonNull || strings.HasSuffix(p.field, "Nil")):
		return reflect.TypeFor[bool]()
	case p.of.Name() == "Boolean":
		return reflect.TypeFor[*bool]()
	case p.required() || p.standard != "" || p.field == reasonField:
		return reflect.TypeFor[string]()
	default:
		return reflect.TypeFor[*string]()
	}
}

func (p parameter) tag() string {
	tag, separator := fmt.Sprintf(`help:%q`, p.help), "|"
	if p.of.Elem != nil {
		separator = ","
	}
	add := func(is bool, more string, values ...any) {
		if is {
			tag += " " + fmt.Sprintf(more, values...)
		}
	}
	add(p.positional, `arg:""`)
	add(!p.positional, `env:"-"`)
	add(!p.positional && p.required() && p.standard == "", `required:""`)
	add(p.kind() == reflect.TypeFor[[]byte](), `type:"filecontent" placeholder:"FILE"`)
	add(p.kind() == reflect.TypeFor[*bool](), `negatable:""`)
	add(!p.positional && p.choices != nil, `placeholder:%q`, strings.Join(p.choices, separator))
	// Shells complete the values of an enum. A command line has none, because kong would compare the case of its values.
	add(p.choices != nil && os.Getenv("COMP_LINE") != "", `required:"" enum:%q`, strings.Join(p.choices, ","))
	add(p.standard != "", `default:%q`, p.standard)
	return tag
}

// read converts a value from kong to a GraphQL variable; nil if nothing was given. It returns terminal.UsageError.
func (p parameter) read(d *deps, given any) (any, error) {
	switch given := given.(type) {
	case bool:
		if given || p.where == nil {
			return given, nil
		}
	case *bool:
		if given != nil {
			return *given, nil
		}
	case []string:
		made := make([]string, len(given))
		for i, one := range given {
			var err error
			if made[i], err = p.word(one); err != nil {
				return nil, err
			}
		}
		return made, nil
	case []byte:
		if !utf8.Valid(given) {
			return nil, terminal.UsageError("the text of a document must be in UTF-8")
		}
		return string(given), nil
	case string:
		if p.field == reasonField {
			return d.why(given)
		}
		return p.parse(d, given)
	case *string:
		if given != nil {
			return p.parse(d, *given)
		}
	}
	return nil, nil
}

func (p parameter) parse(d *deps, text string) (any, error) {
	switch of := p.of.Name(); {
	case p.choices != nil:
		return p.word(text)
	case of == "Time" && (p.where != nil || p.field == "since"):
		return parseTime(text, time.Now(), true)
	case of == "Time":
		return parseTime(text, time.Now(), false)
	case strings.HasSuffix(p.field, "Minor"):
		minor, ok := terminal.ParseCredits(text)
		if !ok {
			return nil, terminal.UsageError(fmt.Sprintf("%q is no amount of credits such as 12.34", text))
		}
		return minor, nil
	case of == "Int" || of == "Int64":
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return nil, terminal.UsageError(fmt.Sprintf("%s: %q is no whole number", p.written(), text))
		}
		return n, nil
	case of == "ID" && slices.Contains(agentFields, p.field):
		return d.agent(text)
	default:
		return text, nil
	}
}

// agentFields are the fields with an agent's id; a handle is accepted, too.
var agentFields = []string{"botId", "botID", "recipientID", "subjectBotID"}

func (d *deps) agent(named string) (string, error) {
	if _, err := text.UUID(named); err == nil {
		return named, nil
	}
	handle := []any{map[string]any{"handle": strings.TrimPrefix(named, "@")}}
	found, err := console.Rows(context.Background(), d.ask, sectionOf(schema.Types["Bot"]), handle, "", 1)
	if err != nil {
		return "", err
	}
	if len(found) == 0 {
		return "", terminal.UsageError("no agent has the handle " + named)
	}
	return fmt.Sprint(found[0]["id"]), nil
}

// word returns one of the choices as the schema writes it; case does not matter. It returns terminal.UsageError.
func (p parameter) word(typed string) (string, error) {
	if p.choices == nil {
		return typed, nil
	}
	i := slices.IndexFunc(p.choices, func(one string) bool { return strings.EqualFold(one, typed) })
	if i < 0 {
		return "", terminal.UsageError(fmt.Sprintf("%s: %q is none of %s", p.written(), typed, strings.Join(p.choices, ", ")))
	}
	if values := schema.Types[p.of.Name()].EnumValues; values != nil {
		return values[i].Name, nil
	}
	return p.choices[i], nil
}

func (p parameter) written() string {
	if p.positional {
		return "<" + p.name() + ">"
	}
	return "--" + p.name()
}

// age formats the distance of a time from now, past or future, in one unit.
func age(now, then time.Time) string {
	seconds, ahead := now.Unix()-then.Unix(), "" // a time.Duration ends after 292 years
	if seconds < 0 {
		seconds, ahead = -seconds, "in "
	}
	for _, unit := range []struct {
		name string
		size int64
	}{{"d", 24 * 60 * 60}, {"h", 60 * 60}, {"m", 60}} {
		if seconds >= unit.size {
			return fmt.Sprintf("%s%d%s", ahead, seconds/unit.size, unit.name)
		}
	}
	return fmt.Sprintf("%s%ds", ahead, seconds)
}

// parseTime reads a time: RFC 3339, a date, or a duration such as 36h or 7d, from now on or back.
func parseTime(text string, now time.Time, isBack bool) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02 15:04", time.DateOnly} {
		if found, err := time.ParseInLocation(layout, text, time.Local); err == nil { //nolint:gosmopolitan // the operator's own clock
			return found.UTC(), nil
		}
	}
	length, err := parseDuration(text)
	if err != nil {
		const fault = "%q is neither a time such as 2026-11-21T12:00:00Z, a date, nor a duration such as 36h or 7d"
		return time.Time{}, terminal.UsageError(fmt.Sprintf(fault, text))
	}
	if isBack {
		length = -length
	}
	return now.Add(length).UTC().Truncate(time.Second), nil
}

// parseDuration reads a duration such as 90m, 36h or 7d.
func parseDuration(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		if err == nil {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = strconv.ErrRange
	}
	return d, err
}
