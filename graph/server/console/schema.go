package console

import (
	"regexp"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/exec"
)

// schema is the GraphQL schema. The pages take the types of columns, filters and form fields from it.
var schema = exec.NewExecutableSchema(exec.Config{}).Schema()

// typeOf is the definition of the innermost type of a field.
func typeOf(t *ast.Type) *ast.Definition { return schema.Types[t.Name()] }

// isEntity reports whether a type is an entity, which has an id and may have a page.
func isEntity(d *ast.Definition) bool { return slices.Contains(d.Interfaces, "Node") }

// fieldsOf are the fields of a type that can be asked for without arguments. An id whose entity is a field, too, is left out.
func fieldsOf(d *ast.Definition) []*ast.FieldDefinition {
	var all []*ast.FieldDefinition
	for _, field := range d.Fields {
		edge, isID := strings.CutSuffix(field.Name, "ID")
		if strings.HasPrefix(field.Name, "__") || len(field.Arguments) > 0 || isID && d.Fields.ForName(edge) != nil {
			continue
		}
		all = append(all, field)
	}
	return all
}

// selection returns a document's selection of a field, with the fields inside of it, levels deep; for an entity within another,
// its id and name. It is empty if the type has no field to show.
func selection(field *ast.FieldDefinition, levels int) string {
	inner := typeOf(field.Type)
	switch {
	case inner.IsLeafType():
		return field.Name
	case isEntity(inner):
		if listed := byType(inner.Name); listed != nil && listed.Name != "" {
			return field.Name + " { id " + listed.Name + " }"
		}
		return field.Name + " { id }"
	case levels == 0:
		return ""
	default:
		return field.Name + " " + selectionSet(inner, levels-1)
	}
}

// selections asks for several fields.
func selections(fields []*ast.FieldDefinition, levels int) string {
	asked := make([]string, 0, len(fields))
	for _, field := range fields {
		asked = append(asked, selection(field, levels))
	}
	return strings.Join(asked, " ")
}

// selectionSet returns a document's selection of an object.
func selectionSet(of *ast.Definition, levels int) string {
	return "{ " + selections(fieldsOf(of), levels) + " }"
}

// wordBreak is where a name in camel case has another word.
var wordBreak = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// words are those of the schema that people know by another name; a name that is a whole field goes before its words.
var words = map[string]string{
	"bot": "agent", "attachment": "file", "attachments": "files", "id": "", "minor": "", "bps": "(basis points)", "nil": "none", "sha256": "SHA-256", "url": "address",
	"sizeBytes": "size", "reservedBytes": "reserved", "previewBytes": "preview", "publishedBytes": "published copy",
	"suspendedAtNotNil": "suspended", "emailVerifiedAtIsNil": "without a verified email", "deletedAtIsNil": "still there",
	"removedAtIsNil": "still there", "sentAtIsNil": "not sent", "refusedAtNotNil": "refused", "expiredAtNotNil": "given up",
	"revokedAtIsNil": "not revoked", "withdrawnAtIsNil": "in force", "refundProposedAtNotNil": "refund proposed",
	"updatedAtLT": "untouched since", "deadlineLT": "deadline before", "createdAtGTE": "from", "createdAtLT": "until", "isDemo": "demo", "createdAt": "created", "emailVerifiedAt": "email verified",
	"lastActiveAt": "last active", "profilePublic": "public profile", "feeBps": "fee (basis points)", "totalMinor": "total",
	"emailGateEnabled": "email gate", "rewardsEnabled": "rewards", "restoreEnabled": "restoring by email", "operator": "operator",
	"id.": "id", "botID": "agent", "boundID": "used by", "boundKind": "used as", "used": "used", "uses": "uses",
}

// human is a name of the schema as people read it: emailVerifiedAt is "Email verified".
func human(name string) string {
	text, known := words[name]
	if !known {
		var all []string
		for word := range strings.FieldsSeq(strings.ToLower(strings.ReplaceAll(wordBreak.ReplaceAllString(name, "$1 $2"), "_", " "))) {
			if other, known := words[word]; known {
				word = other
			}
			if word != "" {
				all = append(all, word)
			}
		}
		text = strings.TrimSuffix(strings.Join(all, " "), " at")
	}
	if text == "" {
		return "Id"
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
