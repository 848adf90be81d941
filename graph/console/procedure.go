package console

import (
	"slices"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/operator"
)

// procedure is a mutation for operators with the page of its form.
type procedure struct {
	operator.Procedure

	// Title is the text of the link to the form, and Path its target.
	Title, Path string
	// Subject is the argument with the target's id; empty for none.
	Subject string
	// Home is the page that links to the form. If there is a subject, the subject's page below Home does.
	Home string
	// Harmful: it takes something away from an agent.
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
			Procedure: listed, Title: human(listed.Name), Path: "/procedures/" + listed.Name,
			field: schema.Mutation.Fields.ForName(listed.Name),
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

// spent maps procedures to the time after which they have no effect.
var spent = map[string]string{
	"suspendBot": "suspendedAt", "removePost": "deletedAt", "removeAttachment": "deletedAt", "removeTask": "removedAt",
	"removeService": "deletedAt", "removeRating": "removedAt", "withdrawDocument": "withdrawnAt", "revokeInvitation": "revokedAt",
}

// past reports whether a time is over; an empty one is not.
func past(stamp string) bool {
	at, err := time.Parse(time.RFC3339, stamp)
	return err == nil && at.Before(time.Now())
}

// offered returns the procedures that have an effect on an entity now; dossier is nil unless the entity is an agent.
func offered(listed *section, node, dossier map[string]any) []*procedure {
	outside := node["suspendedAt"] != nil || node["state"] == "trash"
	removable := slices.ContainsFunc(objects(dossier, "content"), func(one map[string]any) bool { return whole(one["remaining"]) > 0 })
	return slices.DeleteFunc(proceduresAt(listed.Path, true), func(p *procedure) bool {
		if field := spent[p.Name]; field != "" && node[field] != nil || listed.Type == "Bot" && node["state"] == "deleted" {
			return true
		}
		switch p.Name {
		case "revokeInvitation":
			return whole(node["used"]) >= whole(node["uses"]) || past(textOf(node, "expiresAt"))
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
