package operatorcli

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/vektah/gqlparser/v2/ast"

	"stoa/cmd/stoa/operatorcli/client"
	"stoa/cmd/stoa/terminal"
	"stoa/graph/console"
	"stoa/graph/operator"
)

var schema = console.Schema

// The types of parameters that the schema does not define.
var (
	textType = ast.NamedType("String", nil)
	idType   = ast.NonNullNamedType("ID", nil)
	tickType = ast.NonNullNamedType("Boolean", nil)
)

// The groups of commands in the help.
const (
	groupRecords    = "Lists and records"
	groupProcedures = "Procedures"
	groupShort      = "Short names"
)

func lists() (all []command) {
	for _, s := range console.Sections() {
		all = append(all, list(s, "list "+s.Path[1:], ""))
	}
	return all
}

// list makes the command that lists a section, with its filters and more parameters. If order is empty, the newest come first.
func list(s console.Section, path, order string, more ...parameter) command {
	parameters := []parameter{
		{field: "limit", of: ast.NamedType("Int", nil), standard: "20", help: "How many rows."},
		{field: "all", of: tickType, help: "All rows."},
	}
	if len(s.Search) > 0 {
		search := func(value any) map[string]any { return map[string]any{"or": console.Searched(&s, fmt.Sprint(value))} }
		parameters = append(parameters, parameter{field: "search", of: textType, help: "In its names and texts.", where: search})
	}
	for _, name := range append(slices.Clone(s.Filters), "createdAtGTE", "createdAtLT") {
		field := schema.Types[s.Type+"WhereInput"].Fields.ForName(name)
		p := newParameter(name, console.Human(name)+".", field.Type, false, "")
		if field.Type.Name() == "Time" {
			p.help = console.Human(name) + " this time: RFC 3339, a date, or a duration back such as 36h or 7d."
		}
		p.where = func(value any) map[string]any { return map[string]any{name: value} }
		parameters = append(parameters, p)
	}
	parameters = append(parameters, slices.Concat(filters[path], more)...)
	return command{path, groupRecords, s.About, parameters, func(d *deps, given map[string]any) error {
		columns := s.Columns
		if chosen, ok := columnsOf[s.Path]; ok {
			columns = chosen
		}
		where := []any{}
		for _, p := range parameters {
			if value, ok := given[p.field]; ok && p.where != nil {
				where = append(where, p.where(value))
			}
		}
		limit, _ := given["limit"].(int64)
		if limit < 1 {
			return terminal.UsageError("--limit must be at least 1")
		}
		if given["all"] == true {
			limit = 0
		}
		rows, err := console.Rows(context.Background(), d.ask, s, where, order, int(limit))
		if err != nil {
			return err
		}
		return d.table(schema.Types[s.Type], columns, rows, s.ColumnTitle)
	}}
}

// selection selects the fields of a type, and the fields of inner objects down to a depth; of an inner record only id and name.
func selection(of *ast.Definition, depth int) string {
	var asked []string
	for _, field := range console.Fields(of) {
		if inner := schema.Types[field.Type.Name()]; depth > 0 && !inner.IsLeafType() {
			asked = append(asked, field.Name+" "+selection(inner, depth-1))
		} else {
			asked = append(asked, console.Selection(field, 0))
		}
	}
	return "{ " + strings.Join(asked, " ") + " }"
}

// sectionOf returns the section that lists a type; the zero value if none does.
func sectionOf(of *ast.Definition) console.Section {
	all := console.Sections()
	if i := slices.IndexFunc(all, func(s console.Section) bool { return s.Type == of.Name }); i >= 0 {
		return all[i]
	}
	return console.Section{}
}

func shows() (all []command) {
	for _, s := range console.Sections() {
		of := schema.Types[s.Type]
		named := parameter{field: "id", of: idType, positional: true, help: "Its id."}
		if s.Type == "Bot" {
			named.field, named.help = "botId", "Its id or handle."
		}
		path := "show " + s.Path[1:]
		all = append(all, command{path, groupRecords, "All about one of them.", []parameter{named}, func(d *deps, given map[string]any) error {
			more := ""
			if s.Type == "Bot" {
				more = " account: dossier(botId: $id) { availableMinor reservedMinor }"
			}
			found, err := d.ask(context.Background(), `query ($id: ID!) { node(id: $id) { ... on `+s.Type+` `+selection(of, 0)+` }`+more+` }`,
				map[string]any{"id": given[named.field]})
			if err != nil {
				return err
			}
			node, _ := found["node"].(map[string]any)
			if s.Correct(node); len(node) == 0 {
				return terminal.UsageError(fmt.Sprintf("none of the list %s has the id %v", s.Path[1:], given[named.field]))
			}
			fields := d.fields(of, node)
			if account, ok := found["account"].(map[string]any); ok {
				fields = append(fields, d.fields(schema.Types["Account"], account)...)
				node["account"] = account
			}
			return d.detail(node, fields)
		}})
	}
	return all
}

func queries() (all []command) {
	for _, path := range []string{
		"show settings", "show retention", "show switches", "show overview", "show now", "show shift", "show books", "list cases", "list presets", "list operators",
	} {
		_, name, _ := strings.Cut(path, " ")
		field, depth := schema.Query.Fields.ForName(name), 2
		if field.Type.Elem != nil {
			depth = 1
		}
		all = append(all, operation("query", path, groupRecords, field, depth))
	}
	return all
}

// procedures returns the commands of the operators' mutations, such as suspend-bot.
func procedures() (all []command) {
	for _, listed := range operator.Procedures() {
		field, depth := schema.Mutation.Fields.ForName(listed.Name), 1
		if console.IsEntity(schema.Types[field.Type.Name()]) {
			depth = 0
		}
		all = append(all, operation("mutation", terminal.Hyphened(listed.Name), groupProcedures, field, depth))
	}
	return all
}

// operation returns the command of a query or a mutation. Its parameters are the arguments, and the members of an input object.
func operation(kind, path, group string, field *ast.FieldDefinition, depth int) command {
	var parameters []parameter
	for _, a := range field.Arguments {
		if inner := schema.Types[a.Type.Name()]; inner.Kind == ast.InputObject {
			for _, m := range inner.Fields {
				parameters = append(parameters, newParameter(m.Name, m.Description, m.Type, m.DefaultValue != nil, a.Name))
			}
			continue
		}
		parameters = append(parameters, newParameter(a.Name, a.Description, a.Type, a.DefaultValue != nil, ""))
	}
	of := schema.Types[field.Type.Name()]
	document := console.Operation(kind, field, selection(of, depth))
	return command{path, group, field.Description, parameters, func(d *deps, given map[string]any) error {
		return d.carryOut(field.Name, document, of, parameters, given)
	}}
}

func (d *deps) carryOut(name, document string, of *ast.Definition, parameters []parameter, given map[string]any) error {
	variables, repeatable := map[string]any{}, false
	for _, p := range parameters {
		repeatable = repeatable || p.field == "operationId"
		into := variables
		if p.within != "" {
			into, _ = variables[p.within].(map[string]any)
			if into == nil {
				into = map[string]any{}
				variables[p.within] = into
			}
		}
		if value, ok := given[p.field]; ok {
			into[p.field] = value
		}
	}
	if input, ok := variables["input"].(map[string]any); ok && len(input) == 0 && name == "updateSettings" {
		return terminal.UsageError("nothing to set: name at least one setting")
	}
	if _, ok := given["operationId"]; repeatable && !ok {
		variables["operationId"] = uuid.NewString()
	}
	found, err := d.ask(context.Background(), document, variables)
	if _, refused := errors.AsType[client.RefusedError](err); repeatable && err != nil && !refused {
		return fmt.Errorf("%w\n  to be sure of it, repeat with --operation-id=%s: it is not done again", err, variables["operationId"])
	}
	if err != nil {
		return err
	}
	if done, ok := found[name].(map[string]any); ok && repeatable && !d.json {
		return d.detail(done, append(d.fields(of, done), field{"Operation", fmt.Sprint(variables["operationId"])}))
	}
	return d.result(of, found[name])
}

var mailStates = map[string]map[string]any{
	"waiting": {"sentAtIsNil": true, "refusedAtIsNil": true, "expiredAtIsNil": true},
	"sent":    {"sentAtNotNil": true}, "refused": {"refusedAtNotNil": true}, "expired": {"expiredAtNotNil": true},
}

// filters are parameters that combine several conditions, by the path of the list.
var filters = map[string][]parameter{
	"list mails": {{field: "state", of: textType, choices: slices.Sorted(maps.Keys(mailStates)), help: "Its outcome.",
		where: func(value any) map[string]any { return mailStates[fmt.Sprint(value)] }}},
	"list orders": {{field: "botID", of: ast.NamedType("ID", nil), help: "An agent of either side, by its id or handle.",
		where: func(value any) map[string]any {
			return map[string]any{"or": []map[string]any{{"customerID": value}, {"contractorID": value}}}
		}}},
}

// special returns the commands without a list or procedure in the schema.
func special() []command {
	stuck := func(since any) map[string]any {
		at, _ := since.(time.Time) // the parameter's type
		return console.Stuck(time.Now().UTC(), at)
	}
	required := ast.NonNullNamedType("String", nil)
	found := list(sectionOf(schema.Types["Order"]), "list stuck-orders", "UPDATED_AT", parameter{
		field: "idle", of: ast.NamedType("Time", nil), standard: "3d", where: stuck, help: "How long untouched is too long: 36h or 7d, say.",
	})
	found.help = "Orders that are disputed, late, or untouched for a while with reserved credits; the longest waiting first."
	return []command{
		found,
		{"save-file", groupProcedures, "Save one of the files that review-order lists.", []parameter{
			{field: "orderId", of: idType, positional: true, help: "Id of the order."},
			{field: "file", of: idType, positional: true, help: "Id of the file."},
			{field: "to", of: required, help: "Where to put it; an existing file is not replaced."},
			newParameter(reasonField, "", required, false, ""),
		}, saveFile},
		{"sign-in", groupProcedures, "Print a link that signs a browser in once, within five minutes.", nil, signIn},
	}
}

// saveFile creates the target file before it reads the order, because each review is audited.
func saveFile(d *deps, given map[string]any) error {
	path, _ := given["to"].(string)
	place, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return terminal.UsageError(fmt.Sprintf("--to: %s is there already", path))
	}
	if err != nil {
		return fmt.Errorf("--to: %w", err)
	}
	delete(given, "to")
	found, err := d.ask(context.Background(), `mutation ($orderId: ID!, $file: ID!, $reason: String!) {
		reviewOrder(orderId: $orderId, reason: $reason) { file(id: $file) } }`, given)
	var raw []byte
	if err == nil {
		reviewed, _ := found["reviewOrder"].(map[string]any)
		raw, err = base64.StdEncoding.DecodeString(fmt.Sprint(reviewed["file"]))
	}
	if err == nil {
		_, err = place.Write(raw)
	}
	if err = errors.Join(err, place.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return d.detail(map[string]any{"id": given["file"], "path": path, "sizeBytes": len(raw)},
		[]field{{"File", fmt.Sprint(given["file"])}, {"Saved as", path}, {"Bytes", strconv.Itoa(len(raw))}})
}

func signIn(d *deps, _ map[string]any) error {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, d.Origin+"/sign-in/codes", http.NoBody)
	if err != nil {
		return err
	}
	answer, err := d.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return d.Refused(answer.Status)
	}
	var made struct {
		Path      string `json:"path"`
		ExpiresIn int    `json:"expires_in"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&made); err != nil {
		return fmt.Errorf("the answer of %s: %w", d.Origin, err)
	}
	if d.json {
		return terminal.JSON(d.out, map[string]any{"url": d.Origin + made.Path, "expiresIn": made.ExpiresIn})
	}
	_, err = fmt.Fprintln(d.out, d.Origin+made.Path)
	return err
}
