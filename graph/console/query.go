package console

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"stoa/graph/exec"
	"stoa/graph/platform/fault"
)

// Schema is the GraphQL schema. The pages take the types of columns, filters and form fields from it.
var Schema = exec.NewExecutableSchema(exec.Config{}).Schema()

// typeOf is the definition of the innermost type of a field.
func typeOf(t *ast.Type) *ast.Definition { return Schema.Types[t.Name()] }

// IsEntity reports whether a type is an entity, which has an id and may have a page.
func IsEntity(d *ast.Definition) bool { return slices.Contains(d.Interfaces, "Node") }

// Fields returns the fields of a type without arguments. It leaves out an id if its entity is a field, too.
func Fields(d *ast.Definition) []*ast.FieldDefinition {
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

// Selection returns the selection of a field, with inner fields down to levels. Of an inner entity it selects only id and name.
// It is empty if the type has no field to show.
func Selection(field *ast.FieldDefinition, levels int) string {
	inner := typeOf(field.Type)
	switch {
	case inner.IsLeafType():
		return field.Name
	case IsEntity(inner):
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

// selections selects several fields.
func selections(fields []*ast.FieldDefinition, levels int) string {
	asked := make([]string, 0, len(fields))
	for _, field := range fields {
		asked = append(asked, Selection(field, levels))
	}
	return strings.Join(asked, " ")
}

// selectionSet returns the selection of an object.
func selectionSet(of *ast.Definition, levels int) string {
	return "{ " + selections(Fields(of), levels) + " }"
}

// Operation returns a query or a mutation of one field, with its arguments as variables. inner is the selection of the result.
func Operation(kind string, field *ast.FieldDefinition, inner string) string {
	var declared, passed []string
	for _, argument := range field.Arguments {
		variable := "$" + argument.Name + ": " + argument.Type.String()
		if argument.DefaultValue != nil {
			variable += " = " + argument.DefaultValue.String()
		}
		declared = append(declared, variable)
		passed = append(passed, argument.Name+": $"+argument.Name)
	}
	if declared == nil {
		return kind + " { " + field.Name + " " + inner + " }"
	}
	return kind + " (" + strings.Join(declared, ", ") + ") { " + field.Name + "(" + strings.Join(passed, ", ") + ") " + inner + " }"
}

// wordBreak matches the start of the next word in camel case.
var wordBreak = regexp.MustCompile(`([a-z0-9])([A-Z])`)

// words translates words of the schema for people. A whole field name takes precedence over its words.
var words = map[string]string{
	"bot": "agent", "attachment": "file", "attachments": "files", "id": "", "minor": "", "seconds": "", "bps": "", "nil": "none", "sha256": "SHA-256", "url": "address",
	"sizeBytes": "size", "deltaMinor": "change", "entryCount": "entries", "responseCount": "responses", "addressHint": "address", "reservedBytes": "reserved", "previewBytes": "preview", "publishedBytes": "published copy",
	"suspendedAtNotNil": "suspended", "emailVerifiedAtIsNil": "without a verified email", "deletedAtIsNil": "still there",
	"removedAtIsNil": "still there", "sentAtIsNil": "not sent", "refusedAtNotNil": "refused", "expiredAtNotNil": "given up",
	"revokedAtIsNil": "not revoked", "withdrawnAtIsNil": "in force", "refundProposedAtNotNil": "refund proposed",
	"updatedAtLT": "untouched since", "closedAtGTE": "closed since", "disputedAtGTE": "disputed since", "deadlineLT": "deadline before", "createdAtGTE": "from", "createdAtLT": "until", "isDemo": "demo", "createdAt": "created", "emailVerifiedAt": "email verified",
	"lastActiveAt": "last active", "profilePublic": "public profile", "totalMinor": "total",
	"emailGateEnabled": "email gate", "rewardsEnabled": "rewards", "restoreEnabled": "restoring by email", "operator": "operator",
	"id.": "id", "botID": "agent", "boundID": "used by", "boundKind": "used as", "why": "reason for the audit log", "used": "used", "uses": "uses",
}

// nameSigns separates the words of a name, and the topic of an act such as jobs.pauseQueue.
var nameSigns = strings.NewReplacer("_", " ", ".", ": ")

// Human formats a name of the schema for people: emailVerifiedAt becomes "Email verified".
func Human(name string) string {
	text, known := words[name]
	if !known {
		var all []string
		for word := range strings.FieldsSeq(strings.ToLower(nameSigns.Replace(wordBreak.ReplaceAllString(name, "$1 $2")))) {
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

// refusal is the first error of a GraphQL answer, as the original fault.
type refusal struct{ known *fault.Error }

func (r *refusal) Error() string { return r.known.Error() }

func (r *refusal) Unwrap() error { return r.known }

// ask runs an operation and decodes its data, with numbers as json.Number. It returns an error of the answer as *refusal.
func (s *console) ask(ctx context.Context, query string, variables map[string]any) (map[string]any, error) {
	answer := s.Ask(ctx, query, variables)
	if len(answer.Errors) > 0 {
		first := answer.Errors[0]
		code, _ := first.Extensions["code"].(fault.Code)
		known := fault.New(cmp.Or(code, fault.InternalError)).Say(first.Message)
		known.Fields, _ = first.Extensions["fields"].(map[string]string)
		return nil, &refusal{known}
	}
	decoder := json.NewDecoder(bytes.NewReader(answer.Data))
	decoder.UseNumber()
	var data map[string]any
	if err := decoder.Decode(&data); err != nil {
		return nil, err
	}
	return data, nil
}

// object returns an object in an answer; empty if it is null.
func object(data map[string]any, name string) map[string]any {
	found, _ := data[name].(map[string]any)
	return found
}

// objects returns a list of objects in an answer.
func objects(data map[string]any, name string) []map[string]any { return rowsIn(data[name]) }

// where returns the objects of a list whose member name has the text.
func where(list any, name, text string) []map[string]any {
	return slices.DeleteFunc(rowsIn(list), func(one map[string]any) bool { return one[name] != text })
}

// rowsIn returns the objects of a list of an answer.
func rowsIn(found any) []map[string]any {
	list, _ := found.([]any)
	all := make([]map[string]any, 0, len(list))
	for _, one := range list {
		if found, ok := one.(map[string]any); ok {
			all = append(all, found)
		}
	}
	return all
}

// textOf returns a text in an answer; empty if it is null.
func textOf(data map[string]any, name string) string {
	text, _ := data[name].(string)
	return text
}

// whole returns a whole number of an answer.
func whole(v any) int64 {
	n, _ := v.(json.Number)
	i, _ := n.Int64() // the schema guarantees a number
	return i
}
