package console

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/operator"
)

// Pages that belong to no list.
const (
	settingsPath    = "/settings"
	maintenancePath = "/maintenance"
	// transactionsPath is before the id of a transaction of the ledger.
	transactionsPath = "/books/transactions/"
)

// procedure is a mutation for operators with the page of its form.
type procedure struct {
	operator.Procedure

	// Title is the text of the link to the form, and Path its target.
	Title, Path string
	// Subject is the argument with the id of the target; empty for none.
	Subject string
	// Home is the page that leads to the form; below it, if there is a subject, that of the subject.
	Home string
	// Harmful: it takes something from an agent.
	Harmful bool

	field *ast.FieldDefinition
}

// procedures are all of them, in the order of their table (graph/operator).
var procedures = makeProcedures()

// harmful are the verbs of procedures that take something from an agent.
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

// findProcedure returns nil if no procedure has that name.
func findProcedure(name string) *procedure {
	for _, p := range procedures {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// proceduresAt are those whose home is a page, with a subject or without.
func proceduresAt(home string, subject bool) []*procedure {
	var all []*procedure
	for _, p := range procedures {
		if p.Home == home && (p.Subject != "") == subject {
			all = append(all, p)
		}
	}
	return all
}

// spent are the times after which a procedure can do nothing more.
var spent = map[string]string{
	"suspendBot": "suspendedAt", "removePost": "deletedAt", "removeAttachment": "deletedAt", "removeTask": "removedAt",
	"removeService": "deletedAt", "removeRating": "removedAt", "withdrawDocument": "withdrawnAt", "revokeInvitation": "revokedAt",
}

// past reports whether a time is over; no time is not.
func past(stamp string) bool {
	at, err := time.Parse(time.RFC3339, stamp)
	return err == nil && at.Before(time.Now())
}

// offered are the procedures that can do something to an entity now.
func offered(listed *section, node map[string]any) []*procedure {
	return slices.DeleteFunc(proceduresAt(listed.Path, true), func(p *procedure) bool {
		if field := spent[p.Name]; field != "" && node[field] != nil {
			return true
		}
		if p.Name == "revokeInvitation" {
			return whole(node["used"]) >= whole(node["uses"]) || past(textOf(node, "expiresAt"))
		}
		outside := node["suspendedAt"] != nil || node["state"] == "trash"
		return listed.Type == "Bot" && (node["state"] == "deleted" || p.Name == "reinstateBot" && !outside)
	})
}

// notice says what was done on the way to a page; nothing where the address names no procedure.
func notice(r *http.Request) string {
	if p := findProcedure(r.URL.Query().Get("done")); p != nil {
		return "Done, and in the audit log: " + p.Title + "."
	}
	return ""
}

// document is the operation that runs the procedure. inner is the selection of the result.
func (p *procedure) document(inner string) string {
	var declared, passed []string
	for _, argument := range p.field.Arguments {
		declared = append(declared, "$"+argument.Name+": "+argument.Type.String())
		passed = append(passed, argument.Name+": $"+argument.Name)
	}
	return "mutation (" + strings.Join(declared, ", ") + ") { " + p.Name + "(" + strings.Join(passed, ", ") + ") " + inner + " }"
}
