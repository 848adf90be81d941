package mcp

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// requests are requests of the API in a text.
var requests = regexp.MustCompile(`(?:GET|POST|PATCH|DELETE) /[a-z0-9/_{}-]*[a-z0-9_}/]`)

// actions translates requests of the API into calls of tools.
type actions struct {
	rows []actionRow
}

// actionRow is a request that a tool makes.
type actionRow struct {
	method string
	path   []string
	tool   string
	// choice is the argument that names the way, with its value.
	choice, when string
}

// add adds the requests of a tool.
func (a *actions) add(b *built) {
	for _, w := range b.ways {
		a.rows = append(a.rows, actionRow{
			method: w.method, path: strings.Split(w.path, "/"), tool: b.row.name, choice: b.row.choice, when: w.when,
		})
	}
}

// find returns the tool of a request, nil for none.
func (a *actions) find(method, path string) *actionRow {
	found, _ := a.match(method, path)
	return found
}

// match returns the tool of a request, and the parameters of its path. A path without parameters wins over one with some.
func (a *actions) match(method, path string) (found *actionRow, parameters object) {
	path, _, _ = strings.Cut(path, "?")
	parts := strings.Split(path, "/")
	for i := range a.rows {
		row := &a.rows[i]
		if row.method != method || len(row.path) != len(parts) {
			continue
		}
		named, fits := make(object), true
		for j, part := range row.path {
			name, isParameter := strings.CutPrefix(part, "{")
			if isParameter {
				named[strings.TrimSuffix(name, "}")] = parts[j]
			} else if part != parts[j] {
				fits = false
			}
		}
		if fits && (found == nil || len(named) < len(parameters)) {
			found, parameters = row, named
		}
	}
	return found, parameters
}

// all returns the actions of a record as calls of tools. Actions that no tool takes are left out.
func (a *actions) all(actions []any) []any {
	made := make([]any, 0, len(actions))
	for _, action := range actions {
		if call := a.one(as[object](action)); call != nil {
			made = append(made, call)
		}
	}
	return made
}

// one is an action as a call of a tool, nil if no tool does it: arguments are those that are known, and fill_in names the others.
func (a *actions) one(action object) any {
	found, arguments := a.match(as[string](action["method"]), as[string](action["path"]))
	if found == nil {
		return nil
	}
	if found.when != "" {
		arguments[found.choice] = found.when
	}
	lacking := make([]any, 0)
	body := as[object](action["body"])
	for _, name := range slices.Sorted(maps.Keys(body)) {
		switch value := body[name]; {
		case fencedWhole(value): // it would become data with its fence
			lacking = append(lacking, name)
		case value != nil:
			arguments[name] = value
		case name != operationID && name != "client_message_id":
			lacking = append(lacking, name)
		}
	}
	call := object{"tool": found.tool, "arguments": arguments}
	if len(lacking) > 0 {
		call["fill_in"] = lacking
	}
	return call
}
