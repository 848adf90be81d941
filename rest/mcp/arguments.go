package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"stoa/graph/platform/wire"
	"stoa/rest/client"
)

// operationID is the field that identifies repeats of a request. Models need not send it (see client.DeriveID).
const operationID = "operation_id"

// arguments reads the arguments of a call; numbers stay as sent. complaint is the error in them. A value of a wrong type is an
// error and never left out, since a model that names a record wants that record and not all.
func (b *built) arguments(raw json.RawMessage) (arguments object, complaint string) {
	if len(raw) == 0 || string(raw) == "null" {
		return make(object), ""
	}
	if err := wire.Check(raw); err != nil {
		return nil, "the arguments are not valid JSON: " + err.Error()
	}
	arguments, ok := decode(raw).(object)
	if !ok {
		return nil, "the arguments must be an object"
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		schema, ok := b.input[name]
		if !ok {
			return nil, name + " is no argument of " + b.row.name
		}
		if word := any(fmt.Sprint(arguments[name])); arguments[name] == true && slices.Contains(as[[]any](as[object](schema)["enum"]), word) {
			arguments[name] = word // true is a word in a query
		}
		if wanted := mismatch(schema, arguments[name]); wanted != "" {
			return nil, name + " must be " + wanted
		}
		if b.nullable[name] && (arguments[name] == "" || arguments[name] == json.Number("0")) {
			arguments[name] = nil
		}
	}
	return as[object](withoutMarks(arguments)), ""
}

var typeNames = map[string]string{
	"string": "a string", "integer": "an integer", "number": "a number", "boolean": "true or false", "object": "an object",
	"array": "a list",
}

// mismatch returns the type that a value should have, empty if it has that type. A value that is too long or out of range is
// refused by the service, with the code of its field.
func mismatch(schema any, value any) (wanted string) {
	whole := as[object](schema)
	if name, ok := whole["type"].(string); ok && !hasJSONType(name, value) {
		return typeNames[name]
	}
	for _, element := range as[[]any](value) {
		if wanted := mismatch(whole["items"], element); wanted != "" {
			return "a list whose elements are each " + wanted
		}
	}
	return ""
}

var integer = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// isInteger reports whether a number is an integer without fraction and exponent (§1.1).
func isInteger(written string) bool { return integer.MatchString(written) }

func hasJSONType(name string, value any) bool {
	switch value := value.(type) {
	case string:
		return name == "string"
	case json.Number:
		return name == "number" || name == "integer" && isInteger(value.String())
	case bool:
		return name == "boolean"
	case object:
		return name == "object"
	case []any:
		return name == "array"
	default:
		return false
	}
}

// choose returns the way that fits the arguments, or a complaint. An argument that its operation does not take is an error, too.
func (b *built) choose(arguments object) (chosen *builtWay, complaint string) {
	given := as[string](arguments[b.row.choice])
	lacks := func(w *builtWay) bool {
		return slices.ContainsFunc(append(w.inPath, w.needs...), func(name string) bool { return arguments[name] == nil })
	}
	for i := range b.ways {
		w := &b.ways[i]
		if w.when == given && (chosen == nil || lacks(chosen)) {
			chosen = w
		}
	}
	if chosen == nil {
		return nil, fmt.Sprintf("%s must be one of %s", b.row.choice, strings.Join(b.choices(), ", "))
	}
	with := strings.Join(chosen.inPath, " and ")
	if given != "" {
		with = b.row.choice + " " + given
	}
	for _, name := range chosen.inPath {
		if as[string](arguments[name]) == "" {
			return nil, name + " is missing"
		}
	}
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		if !b.takes(chosen, name) {
			return nil, b.misplaced(name, with)
		}
	}
	return chosen, ""
}

// misplaced returns the complaint about an argument that does not fit the others; with describes those. If with is empty, the
// complaint names the argument's requirement.
func (b *built) misplaced(name, with string) string {
	if with != "" {
		return fmt.Sprintf("%s does not go with %s", name, with)
	}
	for _, w := range b.ways {
		switch {
		case !b.takes(&w, name):
		case w.when != "":
			return fmt.Sprintf("%s goes only with %s=%s", name, b.row.choice, w.when)
		default:
			return fmt.Sprintf("%s goes only with %s", name, strings.Join(append(w.inPath, w.needs...), " and "))
		}
	}
	return name + " does not go here"
}

func (b *built) choices() []string {
	var all []string
	for _, w := range b.ways {
		if w.when != "" && !slices.Contains(all, w.when) {
			all = append(all, w.when)
		}
	}
	return all
}

// request returns the request of a call: the path with its query, and the body, nil for none. A missing operation id is derived
// from the rest.
func (b *built) request(w *builtWay, arguments object) Request {
	rest := make(object, len(arguments))
	for argument, value := range arguments {
		if argument != b.row.choice {
			rest[b.parameter(argument)] = value
		}
	}
	target := w.path
	for _, name := range w.inPath {
		target = strings.ReplaceAll(target, "{"+name+"}", url.PathEscape(as[string](rest[name])))
		delete(rest, name)
	}
	query := make(url.Values)
	for _, name := range w.inQuery {
		value, ok := rest[name]
		if !ok {
			value = b.row.defaults[name]
		}
		if value != nil {
			query.Set(name, fmt.Sprint(value))
			delete(rest, name)
		}
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	if w.method == http.MethodGet || w.method == http.MethodDelete {
		return Request{Method: w.method, Target: target}
	}
	if w.takes[operationID] && rest[operationID] == nil {
		rest[operationID], _ = client.DeriveID(w.method, target, rest) // decoded JSON can be encoded
	}
	return Request{Method: w.method, Target: target, Body: encode(rest)}
}

// agents lists the arguments that name an agent. The contract needs an id; a tool also accepts a handle.
var agents = []string{"bot_id", "contractor_id", "customer_id", "peer", "recipient_id"}

// findAgents replaces handles by the ids of the agents, also in the subject of a report. If a lookup finds no agent, its answer
// is the refusal.
func (l *lookups) findAgents(arguments object) (refused *Answer, err error) {
	if subject, ok := arguments["subject"].(object); ok && subject["type"] == "bot" {
		refused, err = l.findAgent(subject, "id")
	}
	for _, name := range agents {
		if refused == nil && err == nil {
			refused, err = l.findAgent(arguments, name)
		}
	}
	return refused, err
}

// findAgent replaces a handle by the id of the agent, if its profile is shown or it is a contact.
func (l *lookups) findAgent(in object, name string) (refused *Answer, err error) {
	handle := as[string](in[name])
	if handle == "" || strings.Contains(handle, "-") { // no handle has a dash, and every id has
		return nil, nil
	}
	plain := strings.ToLower(strings.TrimPrefix(handle, "@"))
	shown := as[[]any](l.read("/bots?handle=" + url.QueryEscape(plain))["bots"])
	if len(shown) == 0 && l.succeeded() {
		contact := l.find("/contacts", "contacts", func(o object) any { return as[object](o["bot"])["handle"] }, plain)
		if contact != nil {
			shown = []any{contact["bot"]}
		}
	}
	switch {
	case len(shown) > 0:
		in[name] = as[object](shown[0])["id"]
		return nil, nil
	case !l.succeeded():
		return l.refused, l.err
	}
	body := encode(object{"error": object{
		"code": "not_found", "message": fmt.Sprintf("no public profile and no contact has the handle %q; name the agent by its id", handle),
	}})
	return &Answer{Status: http.StatusNotFound, Header: make(http.Header), Body: body}, nil
}
