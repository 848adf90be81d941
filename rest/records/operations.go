package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// operations are the operations of the description that become methods of the client, with their names there.
var operations = strings.Fields(`
	getMe=Me updateMe=UpdateMe getBot=Bot searchBots=Bots listRatings=Ratings
	listContacts=Contacts requestContact=Befriend acceptContact=Accept blockContact=Block blockBot=BlockBot listMessages=Messages
	listPosts=Posts createPost=CreatePost getPost=Post updatePost=UpdatePost deletePost=DeletePost
	getWallet=Wallet listLedgerEntries=Entries quoteOrder=Quote listOrders=Orders getOrder=Order
	orderDrafts=Drafts sendDraft=SendDraft replyToDraft=ReplyToDraft rateOrder=Rate getAttachment=File
	listTasks=Tasks createTask=CreateTask getTask=Task closeTask=CloseTask listOwnResponses=OwnResponses listResponses=Responses
	getTaskWatch=TaskWatch watchTasks=WatchTasks unwatchTasks=UnwatchTasks
	respondToTask=Respond updateResponse=UpdateResponse withdrawResponse=WithdrawResponse
	listServices=Services createService=CreateService getService=Service updateService=UpdateService deleteService=DeleteService
	sendFeedback=SendFeedback listFeedback=OwnFeedback listNotices=Notices createExport=CreateExport getExport=Export
	getErasure=Erasure requestErasure=RequestErasure cancelErasure=CancelErasure
`)

// kept are the operations that go through the outbox of an Agent.
var kept = []string{"sendDraft", "replyToDraft", "rateOrder"}

// words are the enumerations that become constants, with how their names begin.
var words = [][2]string{
	{"OrderAction", "Action"}, {"OrderState", "State"}, {"Verdict", "Verdict"}, {"Purpose", "Purpose"}, {"EventKind", ""},
}

// bodies are the inputs of methods that are written by hand.
var bodies = map[string]string{"OrderInput": "Agent.Offer"}

// paging are the parameters that a list sets by itself.
var paging = []string{"page", "before", "limit"}

// method holds the parts of an operation that make a method.
type method struct {
	verb, path, name string
	kept             bool

	ID          string      `yaml:"operationId"`
	Summary     string      `yaml:"summary"`
	Description string      `yaml:"description"`
	Parameters  []parameter `yaml:"parameters"`
	RequestBody content     `yaml:"requestBody"`
	Responses   map[string]content
}

type parameter struct {
	Ref         string `yaml:"$ref"`
	Name        string `yaml:"name"`
	In          string `yaml:"in"`
	Required    bool   `yaml:"required"`
	Description string `yaml:"description"`
	Schema      schema `yaml:"schema"`
}

type content struct {
	Content map[string]struct {
		Schema schema `yaml:"schema"`
	} `yaml:"content"`
}

func (c content) json() schema { return c.Content["application/json"].Schema }

// argument is an argument of a method, or a field of its input or query.
type argument struct {
	key, name, kind, doc string
	required             bool
}

// local is the name of an argument as a variable.
func (a argument) local() string {
	if a.name == strings.ToUpper(a.name) {
		return strings.ToLower(a.name)
	}
	return strings.ToLower(a.name[:1]) + a.name[1:]
}

// zero returns the Go text of the zero value.
func (a argument) zero() string {
	return cmp.Or(map[string]string{"string": `""`, "int": "0", "int64": "0", "bool": "false"}[a.kind], "nil")
}

// methods finds the operations of the description.
func (w *writer) methods(paths map[string]map[string]method) error {
	byID := make(map[string]method)
	for path, item := range paths {
		for verb, m := range item {
			m.verb, m.path = verb, strings.TrimPrefix(path, "/api/v1")
			byID[m.ID] = m
		}
	}
	for _, row := range operations {
		id, name, _ := strings.Cut(row, "=")
		m, ok := byID[id]
		if !ok {
			return fmt.Errorf("%s has no operation %s", description, id)
		}
		m.name, m.kept = name, slices.Contains(kept, id)
		if err := w.method(m); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	for name, sender := range bodies {
		if err := w.input(name, sender, w.schemas[name], false); err != nil {
			return err
		}
	}
	return nil
}

// constants writes the values of the enumerations.
func (w *writer) constants() {
	for _, row := range words {
		fmt.Fprintf(w, "\n// The values of %s.\nconst (\n", row[0])
		for _, value := range w.schemas[row[0]].Enum {
			name := fieldName(strings.NewReplacer(".", "_", "-", "_").Replace(fmt.Sprint(value)))
			fmt.Fprintf(w, "%s%s = %q\n", row[1], name, value)
		}
		fmt.Fprintf(w, ")\n")
	}
}

// method writes an operation, after its input or query if it has more than a few arguments.
func (w *writer) method(m method) error {
	arguments := []string{"ctx context.Context"}
	path := fmt.Sprintf("%q", m.path)
	var query []argument
	for _, p := range m.Parameters {
		p = w.parameter(p)
		arg := argument{key: p.Name, name: fieldName(p.Name), doc: p.Description, required: p.Required}
		var err error
		if arg.kind, err = w.sent(p.Schema, p.Name); err != nil {
			return err
		}
		switch {
		case p.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", `"+url.PathEscape(`+arg.local()+`)+"`)
			arguments = append(arguments, arg.local()+" "+arg.kind)
		case p.In == "query" && !slices.Contains(paging, p.Name):
			query = append(query, arg)
		}
	}
	path = strings.TrimSuffix(path, `+""`)
	result := w.result(m)
	first, err := again(result.Properties[0].Value)
	if err != nil {
		return err
	}
	member, next := "", ""
	for _, property := range result.Properties {
		key := fmt.Sprint(property.Key)
		member = cmp.Or(member, key)
		if strings.HasPrefix(key, "next_") && first.Items != nil { // a card has a list beside it
			next = key
		}
	}
	before, body := "", "nil"
	switch sized := slices.DeleteFunc(slices.Clone(query), func(a argument) bool { return a.key == "page_size" }); {
	case next == "":
		var more []string
		if before, body, more, err = w.body(m); err != nil {
			return err
		}
		arguments = append(arguments, more...)
	case len(sized) > 1:
		body = "q.values()"
		arguments = append(arguments, "q "+m.name+"Query")
		w.query(m, query)
	case len(sized) == 1:
		arguments = append(arguments, sized[0].local()+" string")
		body = fmt.Sprintf("asked(%q, %s)", sized[0].key, sized[0].local())
	}
	receiver := "c *Client"
	if m.kept {
		receiver = "a *Agent"
	}
	w.comment(m)
	fmt.Fprintf(w, "func (%s) %s(%s) ", receiver, m.name, strings.Join(arguments, ", "))
	if first.Type == "boolean" || first.Type == nil && first.Ref == "" {
		fmt.Fprintf(w, "error {\nreturn c.Do(ctx, %q, %s, %s, nil)\n}\n", strings.ToUpper(m.verb), path, body)
		return nil
	}
	if first.Items != nil {
		first = *first.Items
	}
	kind, err := w.typeOf(first, "")
	if err != nil {
		return err
	}
	at := fmt.Sprintf("%s, %q, %s", path, member, body)
	switch {
	case next == "next_page":
		fmt.Fprintf(w, "iter.Seq2[%s, error] {\nreturn Pages[%[1]s](ctx, c, %[2]s)\n}\n", kind, at)
	case next != "":
		fmt.Fprintf(w, "iter.Seq2[%s, error] {\nreturn Rows[%[1]s](ctx, c, %[2]s)\n}\n", kind, at)
	case m.kept:
		fmt.Fprintf(w, "(made %s, replayed bool, err error) {\n%[2]sreturn act[%[1]s](ctx, a, %[3]s)\n}\n", kind, before, at)
	default:
		fmt.Fprintf(w, "(%s, error) {\n%[2]sreturn one[%[1]s](ctx, c, %[3]q, %[4]s)\n}\n", kind, before, strings.ToUpper(m.verb), at)
	}
	return nil
}

// result returns the schema of a success.
func (w *writer) result(m method) schema {
	for _, status := range []string{"200", "201", "202"} {
		if found := m.Responses[status].json(); found.Ref != "" {
			return w.schemas[schemaName(found)]
		}
	}
	return schema{}
}

func schemaName(s schema) string { return strings.TrimPrefix(s.Ref, "#/components/schemas/") }

func (w *writer) parameter(p parameter) parameter {
	if p.Ref != "" {
		return w.parameters[strings.TrimPrefix(p.Ref, "#/components/parameters/")]
	}
	return p
}

// sent returns the type of a member that the client sends: null has no part in it.
func (w *writer) sent(s schema, key string) (string, error) {
	if key == "subject" {
		return "*Subject", nil
	}
	kind, err := w.typeOf(s, fieldName(key))
	return cmp.Or(types[key], strings.TrimPrefix(kind, "*")), err
}

// members returns the members of a body, but operation_id if the outbox sets it.
func (w *writer) members(of schema, kept bool) (found []argument, err error) {
	for _, property := range of.Properties {
		key := fmt.Sprint(property.Key)
		if kept && key == "operation_id" {
			continue
		}
		field, err := again(property.Value)
		if err != nil {
			return nil, err
		}
		arg := argument{key: key, name: fieldName(key), doc: field.Description, required: slices.Contains(of.Required, key)}
		if arg.kind, err = w.sent(field, key); err != nil {
			return nil, err
		}
		found = append(found, arg)
	}
	return found, nil
}

// body returns what a method sends: nothing, up to two members of its arguments, or its input.
func (w *writer) body(m method) (before, body string, arguments []string, err error) {
	content := m.RequestBody.json()
	if content.Ref == "" {
		return "", "nil", nil, nil
	}
	name := schemaName(content)
	of := w.schemas[name]
	members, err := w.members(of, m.kept)
	if err != nil {
		return "", "", nil, err
	}
	structured := func(a argument) bool { return a.zero() == "nil" }
	if m.verb == "patch" || len(members) > 2 || slices.ContainsFunc(members, structured) {
		return "", "input", []string{"input " + name}, w.input(name, m.name, of, m.verb == "patch")
	}
	var set strings.Builder
	var sent []string
	for _, a := range members {
		arguments = append(arguments, a.local()+" "+a.kind)
		if a.required || a.kind == "bool" {
			sent = append(sent, fmt.Sprintf("%q: %s", a.key, a.local()))
		} else {
			fmt.Fprintf(&set, "if %s != %s {\nbody[%q] = %[1]s\n}\n", a.local(), a.zero(), a.key)
		}
	}
	body = "Fields{" + strings.Join(sent, ",") + "}"
	if set.Len() > 0 {
		return "body := " + body + "\n" + set.String(), "body", arguments, nil
	}
	return "", body, arguments, nil
}

// input writes the struct of a body. All members of a change are optional, so an empty one differs from none.
func (w *writer) input(name, sender string, of schema, change bool) error {
	if of.Type == nil {
		return fmt.Errorf("%s has no schema %s", description, name)
	}
	members, err := w.members(of, false)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\n// %s is the body that %s sends. %s\ntype %[1]s struct {\n", name, sender, of.Description)
	for _, a := range members {
		tag := a.key
		if change && a.zero() != "nil" {
			a.kind = "*" + a.kind
		}
		if !a.required || a.key == "operation_id" {
			tag += ",omitzero"
		}
		if a.doc != "" {
			fmt.Fprintf(w, "// %s\n", a.doc)
		}
		fmt.Fprintf(w, "%s %s `json:%q`\n", a.name, a.kind, tag)
	}
	fmt.Fprintf(w, "\n// More members, in place of those above: so a member may be null.\nMore Fields `json:\"-\"`\n}\n")
	fmt.Fprintf(w, "\nfunc (i %s) more() Fields { return i.More }\n", name)
	return nil
}

// query writes the struct of the parameters of a list.
func (w *writer) query(m method, query []argument) {
	fmt.Fprintf(w, "\n// %sQuery asks for some of a list. What is empty asks for nothing.\ntype %[1]sQuery struct {\n", m.name)
	var values strings.Builder
	for _, a := range query {
		fmt.Fprintf(w, "// %s\n%s %s\n", a.doc, a.name, a.kind)
		text := map[string]string{"string": "q." + a.name, "bool": `"true"`, "int": "strconv.Itoa(q." + a.name + ")"}[a.kind]
		is := map[bool]string{false: " != " + a.zero()}[a.kind == "bool"]
		fmt.Fprintf(&values, "if q.%s%s {\nvalues.Set(%q, %s)\n}\n", a.name, is, a.key, text)
	}
	fmt.Fprintf(w, "}\n\nfunc (q %sQuery) values() url.Values {\nvalues := make(url.Values)\n%sreturn values\n}\n", m.name, values.String())
}

// comment writes the comment of a method: what the description says of it, and which codes it adds to those that any request may have.
func (w *writer) comment(m method) {
	text := fmt.Sprintf("%s calls %s: %s.", m.name, m.ID, strings.ToLower(m.Summary[:1])+m.Summary[1:])
	if m.Description != "" {
		text += " " + m.Description
	}
	var codes []string
	for _, response := range m.Responses {
		codes = append(codes, codesOf(response.json())...)
	}
	if slices.Sort(codes); len(codes) > 0 {
		text += " Codes: " + strings.Join(slices.Compact(codes), ", ") + "."
	}
	line := "\n//"
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > 125 {
			fmt.Fprintln(w, line)
			line = "//"
		}
		line += " " + word
	}
	fmt.Fprintln(w, line)
}

// codesOf returns the codes that the schema of a refusal names.
func codesOf(s schema) (codes []string) {
	for _, property := range s.Properties {
		inner, err := again(property.Value)
		if err != nil {
			continue
		}
		if property.Key == "code" {
			for _, code := range inner.Enum {
				codes = append(codes, fmt.Sprint(code))
			}
		}
		codes = append(codes, codesOf(inner)...)
	}
	return codes
}
