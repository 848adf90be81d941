package server_test

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// everything selects all fields of a type without arguments, and fields of inner objects down to levels.
func everything(of *ast.Definition, levels int) string {
	var fields []string
	for _, field := range of.Fields {
		inner := schema.Types[field.Type.Name()]
		switch {
		case len(field.Arguments) > 0, strings.HasPrefix(field.Name, "__"):
		case inner.IsLeafType():
			fields = append(fields, field.Name)
		case levels > 0 && len(inner.Fields) > 0:
			fields = append(fields, field.Name+" "+everything(inner, levels-1))
		}
	}
	return "{ " + strings.Join(fields, " ") + " }"
}

// connections are the root fields that list an entity.
func connections() []*ast.FieldDefinition {
	var all []*ast.FieldDefinition
	for _, field := range schema.Query.Fields {
		if strings.HasSuffix(field.Type.Name(), "Connection") {
			all = append(all, field)
		}
	}
	return all
}
