package console

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"text/template"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
	"stoa/graph/server"
)

// resultData holds the result of a procedure.
type resultData struct {
	*formData
	// Reason is the reason that the operator gave.
	Reason string
	// Result is the answer of GraphQL.
	Result map[string]any
	// Changes are the fields of the target that are different now.
	Changes []change
	Facts   []fact
	Tables  []table
}

// drafts are the initial texts of a mail to an owner.
var drafts = template.Must(template.New("drafts.txt").Funcs(template.FuncMap{"between": between}).ParseFS(files, "drafts.txt"))

// Suspended reports whether the procedure has suspended an agent.
func (d *resultData) Suspended() bool {
	return d.Shuts() && slices.ContainsFunc(d.Changes, func(c change) bool { return c.Label == Human("suspendedAt") })
}

// change is a field of a target before and after a procedure.
type change struct {
	Label         string
	Before, After value
}

// snapshot returns the present facts of a procedure's target, and of an agent's wallet; nil without a target.
func (s *console) snapshot(ctx context.Context, data *formData) ([]fact, error) {
	if data.Home == settingsPath {
		return s.settingsFacts(ctx)
	}
	if data.SubjectID == "" {
		return nil, nil
	}
	listed, more := byType(data.Target), ""
	if listed.Type == "Bot" {
		more = subjectQuery
	}
	_, node, answer, err := s.node(ctx, listed, data.SubjectID, selectionSet(Schema.Types[listed.Type], 1), more)
	if err != nil {
		return nil, err
	}
	facts, err := s.factsOf(ctx, listed, node)
	dossier := object(answer, "dossier")
	add := func(label, text string) {
		facts = append(facts, fact{Label: label, Value: value{Kind: "number", Text: text}})
	}
	if dossier != nil {
		add("Available", amountOf(dossier["availableMinor"]))
		add("In escrow", amountOf(dossier["reservedMinor"]))
		add("Sessions", grouped(whole(dossier["sessions"])))
		add("Connections", grouped(whole(dossier["connections"])))
		for _, one := range objects(dossier, "content") {
			add(Human(strings.ToLower(textOf(one, "kind"))), grouped(whole(one["remaining"])))
		}
	}
	return facts, err
}

// changes returns the facts that differ.
func changes(before, after []fact) []change {
	var all []change
	for i, one := range before {
		if i < len(after) && one.Value != after[i].Value && one.Label != Human("updatedAt") {
			all = append(all, change{one.Label, one.Value, after[i].Value})
		}
	}
	return all
}

// table is a list within a result.
type table struct {
	Caption string
	Columns []string
	Rows    []row
}

// add adds the fields of an object: values as facts, lists of objects as tables. prefix begins the labels of an inner object.
func (d *resultData) add(prefix string, of *ast.Definition, fields map[string]any) {
	for _, field := range Fields(of) {
		inner := typeOf(field.Type)
		label := Human(field.Name)
		if prefix != "" {
			label = prefix + ": " + strings.ToLower(label)
		}
		switch {
		case inner.IsLeafType() || IsEntity(inner):
			if raw, asked := fields[field.Name]; asked {
				d.Facts = append(d.Facts, fact{label, field.Description, newValue(of.Name, field, raw, false)})
			}
		case field.Type.Elem != nil && fields[field.Name] != nil:
			d.addTable(label, inner, objects(fields, field.Name))
		case fields[field.Name] != nil:
			d.add(label, inner, object(fields, field.Name))
		}
	}
}

// addTable adds a list of objects. Fields of an object within a row become columns; a list within the rows becomes a table.
func (d *resultData) addTable(caption string, of *ast.Definition, rows []map[string]any) {
	made := table{Caption: caption, Rows: make([]row, len(rows))}
	for i, fields := range rows {
		if id, ok := fields["id"].(string); ok && of.Name == "AttachmentCard" && fields["available"] == true {
			made.Rows[i].FileID = id
		}
	}
	made.addColumns("", of, rows)
	d.Tables = append(d.Tables, made)
	for _, field := range Fields(of) {
		if inner := typeOf(field.Type); field.Type.Elem != nil && !inner.IsLeafType() {
			var all []map[string]any
			for _, fields := range rows {
				all = append(all, objects(fields, field.Name)...)
			}
			if len(all) > 0 {
				d.addTable(caption+": "+strings.ToLower(Human(field.Name)), inner, all)
			}
		}
	}
}

// addColumns adds the fields of one object per row.
func (t *table) addColumns(prefix string, of *ast.Definition, objects []map[string]any) {
	for _, field := range Fields(of) {
		inner := typeOf(field.Type)
		switch {
		case strings.HasSuffix(field.Name, "Url"): // the form saves files
		case inner.IsLeafType():
			t.Columns = append(t.Columns, Human(prefix+field.Name))
			for i, fields := range objects {
				brief := inner.Name != "String" // texts are not shortened
				t.Rows[i].Cells = append(t.Rows[i].Cells, newValue(of.Name, field, fields[field.Name], brief))
			}
		case field.Type.Elem == nil && !IsEntity(inner):
			within := make([]map[string]any, len(objects))
			for i, fields := range objects {
				within[i] = object(fields, field.Name)
			}
			t.addColumns(prefix+field.Name+"_", inner, within)
		}
	}
}

// tool shows a tool's answer in text or JSON, with the navigation around it. Faults: not_found.
func (s *console) tool(w http.ResponseWriter, r *http.Request) error {
	i := slices.IndexFunc(s.Tools, func(m server.Mount) bool { return m.Text && m.Path == "/"+r.PathValue("name") })
	if i < 0 {
		return fault.New(fault.NotFound)
	}
	tool := s.Tools[i]
	asked, err := http.NewRequestWithContext(r.Context(), http.MethodGet, tool.Path, nil)
	if err != nil {
		return err
	}
	asked.RemoteAddr = r.RemoteAddr
	kept := web.Keep(http.Header{})
	tool.Handler.ServeHTTP(kept, asked)
	var indented bytes.Buffer
	if json.Indent(&indented, kept.Body.Bytes(), "", "  ") != nil {
		indented = kept.Body
	}
	return s.show(w, r, view{template: "tool", Title: tool.Title, Path: tool.Path, Data: map[string]string{
		"About": tool.About, "Text": indented.String(),
	}})
}
