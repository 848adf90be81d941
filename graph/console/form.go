package console

import (
	"cmp"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/operator"
	"stoa/graph/platform/bounds"
)

// field is a field of a procedure's form.
type field struct {
	Name, Label, Hint string
	// Kind is line, lines, number, credits, time, choice, tick, ticks or hidden.
	Kind     string
	Required bool
	Options  []option
	// Max is the maximum number of characters; 0 if the form sets no limit.
	Max   int
	Value string
	// Values are the values of the ticked boxes.
	Values []string
	// Was is the field's initial value. If Known is set, the field had one, and only a changed value is sent.
	Was   string
	Known bool
	// Error describes why the value is wrong; empty if it is valid.
	Error string

	// path is the position of the value in the variables.
	path []string
	kind *ast.Type
}

// reasonField is the last field of every form.
const reasonField = "reason"

// multiline lists the fields for several lines of text, with their maximum number of characters; 0 if the schema names it.
var multiline = map[string]int{reasonField: bounds.Reason, "answer": bounds.LongText, "body": bounds.LongText, "text": 0, "message": bounds.Reason,
	"why": bounds.Reason}

// newForm makes the fields of a procedure. current holds the present values of an input's fields, nil for none.
func newForm(p *procedure, current map[string]any) []*field {
	var all []*field
	for _, argument := range p.field.Arguments {
		inner := typeOf(argument.Type)
		if inner.Kind != ast.InputObject {
			if argument.Name != p.Subject {
				f := newField(argument.Name, argument.Description, argument.Type, argument.DefaultValue != nil)
				f.path = []string{argument.Name}
				if f.Name == reasonField && p.field.Name == "noteBot" {
					f.Label, f.Hint = "Note", "For other operators, up to "+strconv.Itoa(bounds.Reason)+" characters. It stays in the audit log."
				}
				all = append(all, f)
			}
			continue
		}
		for _, member := range inner.Fields {
			f := newField(member.Name, member.Description, member.Type, member.DefaultValue != nil)
			f.path = []string{argument.Name, member.Name}
			if f.Known = current != nil; f.Known {
				f.begin(current[member.Name])
			}
			all = append(all, f)
		}
	}
	return all
}

// tickLabels are the labels of boxes whose field names do not explain them.
var tickLabels = map[string]string{"name": "Clear the name", "texts": "Clear the texts", "images": "Clear the images", "kinds": "Remove",
	"reported": "Remove the reported things"}

func newField(name, hint string, kind *ast.Type, optional bool) *field {
	f := &field{Name: name, Label: Human(name), Hint: hint, Kind: "line", Required: kind.NonNull && !optional, kind: kind}
	if longest, ok := multiline[name]; ok {
		f.Kind, f.Max = "lines", longest
	}
	switch inner := typeOf(kind); {
	case name == reasonField:
		f.Hint = "Why, in 1 to " + strconv.Itoa(bounds.Reason) + " characters. It stays in the audit log."
	case name == "message" && hint == "":
		f.Hint = "To the agent, up to " + strconv.Itoa(bounds.Reason) + " characters."
	case name == "operationId": // a form that is sent twice takes effect once
		f.Kind, f.Value = "hidden", uuid.NewString()
	case name == "seen": // the page shows reports up to this time
		f.Kind = "hidden"
	case inner.Kind == ast.Enum && kind.Elem != nil:
		f.Kind, f.Required, f.Label = "ticks", false, cmp.Or(tickLabels[name], f.Label)
		for _, one := range inner.EnumValues {
			f.Options = append(f.Options, option{Value: one.Name, Label: Human(strings.ToLower(one.Name)), Hint: one.Description})
		}
	case inner.Kind == ast.Enum:
		// A required select begins with an option without a value; otherwise HTML selects the first one.
		f.Kind, f.Options = "choice", []option{{Label: "Not changed"}}
		if f.Required {
			f.Options[0].Label = "Choose one"
		}
		for _, one := range inner.EnumValues {
			label := Human(strings.ToLower(one.Name))
			if one.Description != "" {
				label += ": " + one.Description
			}
			f.Options = append(f.Options, option{Value: one.Name, Label: label})
		}
	case inner.Name == "Boolean" && kind.NonNull:
		f.Kind, f.Required, f.Label = "tick", false, cmp.Or(tickLabels[name], f.Label)
	case inner.Name == "Boolean":
		f.Kind, f.Options = "choice", []option{{Label: "Not chosen"}, {Value: "true", Label: "On"}, {Value: "false", Label: "Off"}}
	case inner.Name == "Time":
		f.Kind, f.Hint = "time", strings.TrimSpace(hint+" In UTC.")
	case strings.HasSuffix(name, "Minor"):
		f.Kind, f.Hint = "credits", "In credits, such as 12.50; 0.01 to "+credits(operator.MaxTopUpMinor)+"."
	case strings.HasSuffix(name, "Bps"):
		f.Kind, f.Label = "number", f.Label+" (basis points)"
	case inner.Name == "Int", inner.Name == "Int64":
		f.Kind = "number"
	}
	return f
}

// offers reports whether a value is one of the options.
func (f *field) offers(value string) bool {
	return value != "" && slices.ContainsFunc(f.Options, func(o option) bool { return o.Value == value })
}

// begin sets the initial value of a field.
func (f *field) begin(v any) {
	if v == nil {
		return
	}
	if f.Kind == "choice" && len(f.Options) > 0 && f.Options[0].Value == "" {
		f.Options, f.Required = f.Options[1:], false // the present value may stay
	}
	f.Was = fmt.Sprint(v)
	f.Value = f.Was
}

// choose selects the option that equals the field's value.
func (f *field) choose() {
	for i := range f.Options {
		f.Options[i].Chosen = f.Options[i].Value == f.Value || slices.Contains(f.Values, f.Options[i].Value)
	}
}

// fill reads the sent form and returns the operation's variables. It sets the Error of each wrong field; then ok is false.
func fill(form []*field, sent url.Values) (variables map[string]any, ok bool) {
	variables, ok = map[string]any{}, true
	text := func(name string) string { return strings.ReplaceAll(sent.Get(name), "\r\n", "\n") } // HTML sends \r\n
	for _, f := range form {
		into := variables
		if len(f.path) > 1 {
			if variables[f.path[0]] == nil {
				variables[f.path[0]] = map[string]any{}
			}
			into = object(variables, f.path[0])
		}
		if f.Known && !sent.Has(f.Name) { // an absent field stays unchanged
			continue
		}
		ticks := f.Kind == "tick" || f.Kind == "ticks"
		if f.Value = text(f.Name); f.Kind == "ticks" {
			f.Value, f.Values = "", sent[f.Name]
		}
		if f.Known {
			f.Was = text(wasPrefix + f.Name)
		}
		if f.Known && f.Value == f.Was || !f.Known && f.Value == "" && !f.Required && !ticks {
			continue
		}
		v, wrong := f.parse()
		if f.Error = wrong; wrong != "" {
			ok = false
			continue
		}
		into[f.path[len(f.path)-1]] = v
	}
	return variables, ok
}

// wasPrefix begins the name of the hidden field with a field's initial value.
const wasPrefix = "was."

// amount matches a number of credits: decimal digits, with at most two after a point.
var amount = regexp.MustCompile(`^([0-9]+)(?:\.([0-9]{1,2}))?$`)

// parse converts the sent text to a variable, or returns a complaint. The domain checks the rest.
func (f *field) parse() (v any, wrong string) {
	if f.Value == "" && f.Required && f.Kind != "line" && f.Kind != "lines" {
		return nil, "is required"
	}
	switch f.Kind {
	case "number":
		n, err := strconv.ParseInt(strings.TrimSpace(f.Value), 10, 64)
		if err != nil {
			return nil, "must be a whole number"
		}
		return n, ""
	case "credits":
		parts := amount.FindStringSubmatch(strings.TrimSpace(f.Value))
		if parts == nil {
			return nil, "must be an amount such as 12.50"
		}
		minor, err := strconv.ParseInt(parts[1]+(parts[2] + "00")[:2], 10, 64)
		if err != nil || minor < 1 || minor > operator.MaxTopUpMinor {
			return nil, "must be from 0.01 to " + credits(operator.MaxTopUpMinor) + " credits"
		}
		return minor, ""
	case "time":
		at, ok := parseTime(f.Value)
		if !ok {
			return nil, "must be a day and a time"
		}
		return stamp(at), ""
	case "tick":
		return f.Value == "true", ""
	case "ticks":
		return append([]string{}, f.Values...), ""
	case "choice":
		if typeOf(f.kind).Name == "Boolean" {
			return f.Value == "true", ""
		}
	}
	return f.Value, ""
}

// blame adds the domain's complaints to their fields, and returns complaints about no field.
func blame(form []*field, wrong map[string]string) (rest []string) {
	for name, reason := range wrong {
		if i := slices.IndexFunc(form, func(f *field) bool { return f.Name == name }); i >= 0 {
			form[i].Error = reason
		} else {
			rest = append(rest, Human(name)+" "+reason)
		}
	}
	return rest
}
