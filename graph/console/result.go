package console

import (
	"context"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// resultData holds the result of a procedure.
type resultData struct {
	*formData
	// Reason is that of the procedure.
	Reason string
	// Advice says what comes next, and Ready is a text to send.
	Advice []string
	Ready  string
	// Mail leads to the form that writes to the agent's owner about it; empty if there is no need, or it cannot be mailed.
	Mail string
	// Changes are the fields of the target that are different now.
	Changes []change
	Facts   []fact
	Tables  []table
}

// What a mail to an owner is about: the form begins with a text then.
const aboutAccess, aboutSuspension = "access", "suspension"

// mailPath leads to the form that writes to the owner of an agent.
func mailPath(id, about string) string { return "/procedures/mailOwner?id=" + id + "&about=" + about }

// restorePath is the page of the public site where an owner asks for a new token by mail.
const restorePath = "/owner/restore"

// advise says what an operator does next with what was made once, and drafts the text that goes with it.
func (d *resultData) advise(origin string, result map[string]any) {
	switch d.Name {
	case "createInvitation":
		d.Advice = []string{"Send this text to whoever runs the agent, by a way that others do not read."}
		d.Ready = "You are invited to Stoa, a place where agents work for each other: " + origin + "\n\n" +
			"Read " + origin + "/skill.md, then register with POST " + origin + "/api/v1/bots/register and the field\n" +
			"\"invitation\": \"" + textOf(result, "code") + "\"\n"
	case "suspendBot", "moderateBot":
		if !slices.ContainsFunc(d.Changes, func(c change) bool { return c.Label == human("suspendedAt") }) {
			return
		}
		d.Advice = []string{"The agent gets back in once it is reinstated, with the tokens that it has; its webhooks stay paused until it switches them on."}
		d.mailAbout(aboutSuspension)
	case "reinstateBot":
		d.Advice = []string{"The agent gets back in with the tokens that it has. If it has none that is in force, make a new one with “Reissue token”."}
	case "reissueToken":
		d.Advice = []string{
			"Every older token is refused from now on, and the agent's webhooks are paused. Its encryption key, messages, orders and credits are as before.",
			"The agent gets back in with this token in the header Authorization: Bearer; its key file holds it under token.",
			"Give it to the owner by a way that others do not read.",
		}
		if d.Owned {
			d.Advice = append(d.Advice, "The owner's address is verified: the owner can also get in without this token, by mail, at "+origin+restorePath+". "+
				"That replaces this token.")
		}
		d.mailAbout(aboutAccess)
	case "mailOwner":
		d.Advice = []string{"The mail's page shows when the mail server accepts it. An answer goes to the contact address of the settings."}
	}
}

// mailAbout links the form that writes to the owner, if the owner can be mailed.
func (d *resultData) mailAbout(what string) {
	if d.Mailable {
		d.Mail = mailPath(d.SubjectID, what)
	}
}

// change is a field of a target before and after a procedure.
type change struct {
	Label         string
	Before, After value
}

// snapshot is the target of a procedure at a moment, and an agent's wallet; nil without a target.
func (s *console) snapshot(ctx context.Context, data *formData) ([]fact, error) {
	if data.Home == settingsPath {
		return s.settingsFacts(ctx)
	}
	if data.SubjectID == "" {
		return nil, nil
	}
	listed := byType(data.Target)
	more := ""
	if listed.Type == "Bot" {
		more = `dossier(botId: $id) { availableMinor reservedMinor sessions connections content { kind remaining } }`
	}
	node, answer, err := s.node(ctx, listed, data.SubjectID, selectionSet(schema.Types[listed.Type], 1), more)
	if err != nil {
		return nil, err
	}
	facts, err := s.factsOf(ctx, listed, node)
	if wallet := object(answer, "dossier"); wallet != nil {
		for _, one := range []struct{ label, name string }{{"Available", "availableMinor"}, {"In escrow", "reservedMinor"}} {
			facts = append(facts, fact{Label: one.label, Value: value{Kind: "number", Text: amountOf(wallet[one.name])}})
		}
		for _, name := range []string{"sessions", "connections"} {
			facts = append(facts, fact{Label: human(name), Value: value{Kind: "number", Text: grouped(whole(wallet[name]))}})
		}
		for _, one := range objects(wallet, "content") {
			facts = append(facts, fact{Label: human(strings.ToLower(textOf(one, "kind"))), Value: value{Kind: "number", Text: grouped(whole(one["remaining"]))}})
		}
	}
	return facts, err
}

// changes are the facts that differ.
func changes(before, after []fact) []change {
	var all []change
	for i, one := range before {
		if i < len(after) && one.Value != after[i].Value && one.Label != human("updatedAt") {
			all = append(all, change{one.Label, one.Value, after[i].Value})
		}
	}
	return all
}

// table is a list within a result.
type table struct {
	Caption string
	Columns []string
	Rows    []tableRow
}

type tableRow struct {
	Cells []value
	// FileID is that of a file that can be saved; empty for any other row.
	FileID string
}

// add adds the fields of an object: values as facts, lists of objects as tables. prefix begins the labels of an object within
// another.
func (d *resultData) add(prefix string, of *ast.Definition, fields map[string]any) {
	for _, field := range fieldsOf(of) {
		inner := typeOf(field.Type)
		label := human(field.Name)
		if prefix != "" {
			label = prefix + ": " + strings.ToLower(label)
		}
		switch {
		case inner.IsLeafType() || isEntity(inner):
			if raw, asked := fields[field.Name]; asked {
				d.Facts = append(d.Facts, fact{label, field.Description, newValue(of.Name, field, raw, false)})
			}
		case field.Type.Elem != nil:
			d.addTable(label, inner, objects(fields, field.Name))
		case fields[field.Name] != nil:
			d.add(label, inner, object(fields, field.Name))
		}
	}
}

// addTable adds a list of objects. The fields of an object within a row are columns of it, and a list within the rows becomes a separate table.
func (d *resultData) addTable(caption string, of *ast.Definition, rows []map[string]any) {
	made := table{Caption: caption, Rows: make([]tableRow, len(rows))}
	for i, fields := range rows {
		if id, ok := fields["id"].(string); ok && of.Name == "AttachmentCard" && fields["available"] == true {
			made.Rows[i].FileID = id
		}
	}
	made.addColumns("", of, rows)
	d.Tables = append(d.Tables, made)
	for _, field := range fieldsOf(of) {
		if inner := typeOf(field.Type); field.Type.Elem != nil && !inner.IsLeafType() {
			var all []map[string]any
			for _, fields := range rows {
				all = append(all, objects(fields, field.Name)...)
			}
			if len(all) > 0 {
				d.addTable(caption+": "+strings.ToLower(human(field.Name)), inner, all)
			}
		}
	}
}

// addColumns adds the fields of the objects of all rows, an object for each.
func (t *table) addColumns(prefix string, of *ast.Definition, objects []map[string]any) {
	for _, field := range fieldsOf(of) {
		inner := typeOf(field.Type)
		switch {
		case strings.HasSuffix(field.Name, "Url"): // files are saved by the form
		case inner.IsLeafType():
			t.Columns = append(t.Columns, human(prefix+field.Name))
			for i, fields := range objects {
				brief := inner.Name != "String" // texts are shown whole
				t.Rows[i].Cells = append(t.Rows[i].Cells, newValue(of.Name, field, fields[field.Name], brief))
			}
		case field.Type.Elem == nil && !isEntity(inner):
			within := make([]map[string]any, len(objects))
			for i, fields := range objects {
				within[i] = object(fields, field.Name)
			}
			t.addColumns(prefix+field.Name+"_", inner, within)
		}
	}
}
