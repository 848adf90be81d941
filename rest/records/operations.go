package main

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"stoa/rest/openapi"
)

// argument is an argument of a method, or a field of its input or query.
type argument struct {
	key, name, kind, doc string
	required             bool
	// values lists the allowed values of a text.
	values string
}

// argument returns a member or a parameter that the client sends; its type leaves out null.
func (w *writer) argument(key string, s *openapi.Schema, doc string, required bool) argument {
	kind, known := types[key]
	if !known {
		kind = strings.TrimPrefix(w.typeOf(s, fieldName(key)), "*")
	}
	return argument{key, fieldName(key), kind, doc, required, w.values(s)}
}

// values lists the allowed values of a text; empty if any is allowed.
func (w *writer) values(s *openapi.Schema) string {
	if len(s.AnyOf) == 2 && s.AnyOf[1].Type == "null" {
		s = s.AnyOf[0]
	}
	s = w.description.Follow(s)
	var all []string
	for _, value := range s.Enum {
		if text, ok := value.(string); ok {
			all = append(all, text)
		}
	}
	switch {
	case len(all) > 1:
		return "One of " + strings.Join(all, ", ") + "."
	case strings.HasPrefix(s.Description, "RFC 3339 with an offset"):
		return "RFC 3339, such as 2030-01-31T12:00:00Z."
	}
	return ""
}

// note is a sentence about an argument in the comment of its method, empty for none.
func (a argument) note() string {
	switch {
	case a.key == "operation_id":
		return " operationID is a new UUID, or that of the request that is repeated."
	case a.values != "":
		return " " + a.local() + " is " + strings.ToLower(a.values[:1]) + a.values[1:]
	}
	return ""
}

func (a argument) local() string {
	if a.name == strings.ToUpper(a.name) {
		return strings.ToLower(a.name)
	}
	return strings.ToLower(a.name[:1]) + a.name[1:]
}

func (a argument) isNil() bool {
	return strings.HasPrefix(a.kind, "[]") || strings.HasPrefix(a.kind, "*")
}

func (w *writer) operations() {
	for _, row := range words {
		w.say("\n// The values of %s.\nconst (", row[0])
		for _, value := range w.schema(row[0]).Enum {
			w.say("%s%s = %q", row[1], fieldName(strings.NewReplacer(".", "_", "-", "_").Replace(fmt.Sprint(value))), value)
		}
		w.say(")")
	}
	for _, row := range methods {
		id, name, _ := strings.Cut(row, "=")
		o := w.description.Operation(id)
		if o == nil {
			panic("the description has no operation " + id)
		}
		w.method(name, o)
	}
	w.input("OrderInput", "Agent.Offer", false)
}

// method writes the method of an operation. If it has more than a few arguments, its input or query comes first.
func (w *writer) method(name string, o *openapi.Operation) {
	arguments := []string{"ctx context.Context"}
	path := fmt.Sprintf("%q", strings.TrimPrefix(o.Path, "/api/v1"))
	var query []argument
	for _, p := range o.Parameters {
		switch {
		case p.In == "path":
			arg := w.argument(p.Name, p.Schema, p.Description, p.Required)
			path = strings.ReplaceAll(path, "{"+p.Name+"}", `"+url.PathEscape(`+arg.local()+`)+"`)
			arguments = append(arguments, arg.local()+" "+arg.kind)
		case p.In == "query" && !slices.Contains(paging, p.Name):
			query = append(query, w.argument(p.Name, p.Schema, p.Description, p.Required))
		}
	}
	result := w.description.Follow(o.Success())
	key := result.Order[0]
	member := result.Properties[key]
	if slices.ContainsFunc(records, func(r record) bool { return r.schema == openapi.Component(o.Success().Ref) }) {
		key, member = "", o.Success() // the answer is the record
	}
	listed := member.Items != nil && slices.ContainsFunc(result.Order, func(name string) bool { return strings.HasPrefix(name, "next_") })
	var body, more, notes string
	if listed {
		body, more, notes = w.query(name, query)
	} else {
		body, more, notes = w.body(name, o)
	}
	if more != "" {
		arguments = append(arguments, more)
	}
	receiver := "c *Client"
	if slices.Contains(kept, o.ID) {
		receiver = "a *Agent"
	}
	w.comment(name, o, notes)
	fmt.Fprintf(w, "func (%s) %s(%s) ", receiver, name, strings.Join(arguments, ", "))
	path = strings.TrimSuffix(path, `+""`)
	if member.Type == "boolean" || member.Type == "" && member.Ref == "" {
		w.say("error {\nreturn c.Do(ctx, %q, %s, %s, nil)\n}", o.Method, path, body)
		return
	}
	kind, at := w.typeOf(cmp.Or(member.Items, member), ""), fmt.Sprintf("%s, %q, %s", path, key, body)
	switch {
	case listed:
		w.say("iter.Seq2[%s, error] {\nreturn List[%[1]s](ctx, c, %[2]s)\n}", kind, at)
	case receiver == "a *Agent":
		w.say("(made %s, replayed bool, err error) {\nreturn Act[%[1]s](ctx, a, %[2]s)\n}", kind, at)
	default:
		w.say("(%s, error) {\nreturn One[%[1]s](ctx, c, %[2]q, %[3]s)\n}", kind, o.Method, at)
	}
}

// query returns the query that a list sends, and the argument for it: none, one text with its note, or a struct.
func (w *writer) query(name string, query []argument) (values, arguments, notes string) {
	sized := slices.IndexFunc(query, func(a argument) bool { return a.key == "page_size" })
	switch {
	case len(query) == 0, len(query) == 1 && sized == 0:
		return "nil", "", ""
	case len(query) == 1 || len(query) == 2 && sized >= 0:
		only := query[(sized+1)%len(query)]
		return fmt.Sprintf("asked(%q, %s)", only.key, only.local()), only.local() + " string", only.note()
	}
	w.say("\n// %sQuery asks for some of a list. Empty fields ask for nothing.\ntype %[1]sQuery struct {", name)
	var pairs []string
	for _, a := range query {
		w.field(a, "")
		pairs = append(pairs, fmt.Sprintf("%q, q.%s", a.key, a.name))
	}
	w.say("}")
	return "asked(" + strings.Join(pairs, ", ") + ")", "q " + name + "Query", ""
}

// body returns the body that a method sends, and its arguments: none, up to two members with their notes, or an input struct.
func (w *writer) body(name string, o *openapi.Operation) (body, arguments, notes string) {
	sent := o.RequestBody.JSON()
	if sent == nil {
		return "nil", "", ""
	}
	input := openapi.Component(sent.Ref)
	members := w.members(input)
	if slices.Contains(kept, o.ID) { // the outbox sets it
		members = slices.DeleteFunc(members, func(a argument) bool { return a.key == "operation_id" })
	}
	if o.Method == http.MethodPatch || len(members) > 2 || slices.ContainsFunc(members, argument.isNil) {
		w.input(input, name, o.Method == http.MethodPatch)
		return "input", "input " + input, ""
	}
	var all, always []string
	var may strings.Builder
	for _, a := range members {
		all, notes = append(all, a.local()+" "+a.kind), notes+a.note()
		if a.required || a.kind == "bool" {
			always = append(always, fmt.Sprintf("%q: %s", a.key, a.local()))
		} else {
			fmt.Fprintf(&may, ", %q, %s", a.key, a.local())
		}
	}
	body = "Fields{" + strings.Join(always, ",") + "}"
	if may.Len() > 0 {
		body = "given(" + body + may.String() + ")"
	}
	return body, strings.Join(all, ", "), notes
}

func (w *writer) members(input string) (all []argument) {
	of := w.schema(input)
	for _, key := range of.Order {
		s := of.Properties[key]
		all = append(all, w.argument(key, s, s.Description, slices.Contains(of.Required, key)))
	}
	return all
}

// input writes the struct of a body. All members of a change are optional, so their types distinguish empty from absent.
func (w *writer) input(name, sender string, change bool) {
	w.say("\n// %s is the body that %s sends. %s\ntype %[1]s struct {", name, sender, w.schema(name).Description)
	for _, a := range w.members(name) {
		tag := a.key
		if change && !a.isNil() {
			a.kind = "*" + a.kind
		}
		if !a.required || a.key == "operation_id" {
			tag += ",omitzero"
		}
		w.field(a, tag)
	}
	w.say("\n// Further members; one with the name of a field above replaces it, and may be null.\nMore Fields `json:\"-\"`\n}")
	w.say("\nfunc (i %[1]s) MarshalJSON() ([]byte, error) {\ntype members %[1]s\nreturn withMore(members(i), i.More)\n}", name)
}

// comment writes the comment of a method: its description, and its error codes besides the codes of every request.
func (w *writer) comment(name string, o *openapi.Operation, notes string) {
	text := fmt.Sprintf("%s calls %s: %s. %s%s", name, o.ID, strings.ToLower(o.Summary[:1])+o.Summary[1:], o.Description, notes)
	var codes []string
	for _, response := range o.Responses {
		codes = append(codes, response.Codes()...)
	}
	if slices.Sort(codes); len(codes) > 0 {
		text += " Codes: " + strings.Join(slices.Compact(codes), ", ") + "."
	}
	line := "\n//"
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > 125 {
			w.say("%s", line)
			line = "//"
		}
		line += " " + word
	}
	w.say("%s", line)
}
