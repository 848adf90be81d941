package console

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/operator"
	"stoa/graph/platform/pages"
	"stoa/graph/platform/viewer"
)

// procedure is a mutation for operators with the page of its form.
type procedure struct {
	operator.Procedure

	// Title is the text of the link to the form, and Path its target.
	Title, Path string
	// Subject is the argument with the target's id; empty for none.
	Subject string
	// Home is the page that links to the form; if the form has a subject, it is the subject's page below Home.
	Home string
	// Harmful is true if the procedure takes something away from an agent.
	Harmful bool

	field *ast.FieldDefinition
}

// procedures holds all procedures, in the order of their table (graph/operator).
var procedures = makeProcedures()

// Description returns the schema's description.
func (p *procedure) Description() string { return p.field.Description }

// harmful are the verbs of procedures that take something away from an agent.
var harmful = []string{"suspend", "moderate", "clear", "reissue", "remove", "revoke", "withdraw"}

func makeProcedures() []*procedure {
	var all []*procedure
	for _, listed := range operator.Procedures() {
		p := &procedure{
			Procedure: listed, Title: Human(listed.Name), Path: "/procedures/" + listed.Name,
			field: Schema.Mutation.Fields.ForName(listed.Name),
		}
		for _, argument := range p.field.Arguments {
			if argument.Type.Name() == "ID" && argument.Type.NonNull {
				p.Subject = argument.Name
			}
		}
		switch target := byType(listed.Target); {
		case target != nil:
			p.Home = target.Path
		case p.field.Type.Name() == "Preset":
			p.Home = casesPath
		case strings.HasSuffix(p.field.Type.Name(), "Operator"):
			p.Home = operatorsPath
		case p.field.Type.Name() == "Settings":
			p.Home = settingsPath
		default:
			p.Home = maintenancePath
		}
		p.Harmful = slices.ContainsFunc(harmful, func(verb string) bool { return strings.HasPrefix(listed.Name, verb) })
		all = append(all, p)
	}
	return all
}

// proceduresAt returns the procedures with this home, with a subject or without.
func proceduresAt(home string, subject bool) []*procedure {
	return slices.DeleteFunc(slices.Clone(procedures), func(p *procedure) bool { return p.Home != home || (p.Subject != "") != subject })
}

// endTimeFields maps procedures to the time after which they have no effect.
var endTimeFields = map[string]string{
	"suspendBot": "suspendedAt", "removePost": "deletedAt", "removeAttachment": "deletedAt", "removeTask": "removedAt",
	"removeService": "deletedAt", "removeRating": "removedAt", "withdrawDocument": "withdrawnAt", "revokeInvitation": "revokedAt",
}

// isPast reports whether a time is over; false for an empty text.
func isPast(stamp string) bool {
	at, err := time.Parse(time.RFC3339, stamp)
	return err == nil && at.Before(time.Now())
}

// offered returns the procedures that have an effect on an entity now; dossier is nil unless the entity is an agent.
func offered(listed *Section, node, dossier map[string]any) []*procedure {
	outside := node["suspendedAt"] != nil || node["state"] == "trash"
	removable := slices.ContainsFunc(objects(dossier, "content"), func(one map[string]any) bool { return whole(one["remaining"]) > 0 })
	return slices.DeleteFunc(proceduresAt(listed.Path, true), func(p *procedure) bool {
		if field := endTimeFields[p.Name]; field != "" && node[field] != nil || listed.Type == "Bot" && node["state"] == "deleted" {
			return true
		}
		switch p.Name {
		case "revokeInvitation":
			return whole(node["used"]) >= whole(node["uses"]) || isPast(textOf(node, "expiresAt"))
		case "reinstateBot":
			return !outside
		case "mailOwner":
			return dossier["mailable"] != true
		case "removeContent":
			return !removable
		case "clearProfile":
			return dossier["clearable"] != true
		default:
			return false
		}
	})
}

// document returns the operation that runs the procedure. inner is the selection of the result.
func (p *procedure) document(inner string) string { return Operation("mutation", p.field, inner) }

// newestEntry asks for the newest entry of the audit log that meets a condition.
func newestEntry(where string) string {
	return ` auditEntries(last: 1, where: {` + where + `}) { edges { cursor node { id operator procedure createdAt details } } }`
}

// acted adds up the details of the caller's acts of a procedure on a target, after a cursor of the audit log, because a bulk act
// has an entry for each batch. Without such an entry it returns nil.
func (s *console) acted(ctx context.Context, procedure, target, cursor string) (sum map[string]any, err error) {
	variables := map[string]any{"procedure": procedure, "operator": viewer.From(ctx).Name, "target": target}
	if cursor != "" {
		variables["after"] = cursor
	}
	answer, err := s.ask(ctx, `query ($procedure: String!, $operator: String!, $target: String!, $after: Cursor) {
		auditEntries(first: 10, after: $after, where: {procedure: $procedure, operator: $operator, target: $target}) {
			edges { node { details } }
		}
	}`, variables)
	for _, edge := range objects(object(answer, "auditEntries"), "edges") {
		if sum == nil {
			sum = map[string]any{}
		}
		for name, v := range object(object(edge, "node"), "details") {
			if _, counted := v.(json.Number); counted {
				v = json.Number(strconv.FormatInt(whole(sum[name])+whole(v), 10))
			}
			sum[name] = v
		}
	}
	return sum, err
}

// summaries are the details of an audit entry that a summary names, in its order: a text, or a noun with a text after its number.
var summaries = []struct{ detail, noun, text string }{
	{"suspend", "", "suspended"}, {"name", "", "name cleared"}, {"texts", "", "texts cleared"}, {"images", "", "images cleared"},
	{"POSTS", "post", "removed"}, {"TASKS", "task", "removed"}, {"SERVICES", "service", "removed"}, {"RATINGS", "rating", "removed"},
	{"reported", "reported thing", "removed"}, {"answered", "report", "answered"}, {"message", "", "message sent"},
}

// summary describes the details of an audit entry, such as "suspended, 2 reports answered"; empty if it knows no detail.
func summary(details map[string]any) string {
	var all []string
	for _, one := range summaries {
		switch v := details[one.detail].(type) {
		case json.Number:
			if n := whole(v); n > 0 {
				all = append(all, pages.Count(n, one.noun)+" "+one.text)
			}
		case bool, string:
			if unsent := textOf(details, "unsent"); one.detail == "message" && unsent != "" {
				all = append(all, "message not sent: "+unsent)
			} else if v == true || one.detail == "message" && v != "" {
				all = append(all, one.text)
			}
		}
	}
	return strings.Join(all, ", ")
}

// lastModeration describes the caller's moderation of an agent after a cursor of the audit log, with a link to the agent. If the
// caller did nothing since then, both are empty.
func (s *console) lastModeration(ctx context.Context, id, cursor string) (notice string, agent value) {
	_, node, _, err := s.node(ctx, byType("Bot"), id, `{ id handle }`, "")
	if err != nil {
		return "", value{}
	}
	details, err := s.acted(ctx, "moderateBot", id, cursor)
	if err != nil || details == nil {
		return "", value{}
	}
	return cmp.Or(summary(details), "done") + ".", entityLink("Bot", node)
}

// Guarded reports whether a form is refused if the same was done since the form was shown. Otherwise a reload of the result would
// repeat the act, and two operators would deal with the same agent. Two forms need no guard: an operation id makes the act
// idempotent, and the settings send only changes.
func (d *formData) Guarded() bool {
	return d.Home != settingsPath && !slices.ContainsFunc(d.Fields, func(f *field) bool { return f.Name == "operationId" })
}

// setLatest sets the newest audit entry about the form's target, which found holds. If the form has no target, it requests the
// caller's newest entry of this procedure.
func (s *console) setLatest(r *http.Request, data *formData, found map[string]any) (err error) {
	if data.Subject == "" {
		found, err = s.ask(r.Context(), `query ($procedure: String!, $operator: String!, $since: Time!) {`+
			newestEntry(`procedure: $procedure, operator: $operator, createdAtGTE: $since`)+` }`, map[string]any{
			"procedure": data.Name, "operator": viewer.From(r.Context()).Name, "since": stamp(time.Now().UTC().Add(-day)),
		})
	}
	for _, edge := range objects(object(found, "auditEntries"), "edges") {
		data.Latest = object(edge, "node")
		data.Latest["cursor"] = edge["cursor"]
	}
	return err
}

// overtaken returns a complaint if there is a newer entry than when the form was shown; empty if there is none.
func (d *formData) overtaken(r *http.Request) string {
	if !r.PostForm.Has(latestField) || r.PostForm.Get(latestField) == textOf(d.Latest, "id") {
		return ""
	}
	who, ago := pages.VisibleLine(textOf(d.Latest, "operator")), cmp.Or(age(textOf(d.Latest, "createdAt")), "less than a minute")
	if who == viewer.From(r.Context()).Name {
		who = "You"
	}
	did := who + " did “" + Human(textOf(d.Latest, "procedure")) + "” " + ago + " ago"
	if what := summary(object(d.Latest, "details")); what != "" {
		did += ": " + what
	}
	return did + ". Look again before you send this."
}

// latestField is the hidden field with the id of the newest audit entry.
const latestField = "latest"
