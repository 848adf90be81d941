package server

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/core"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// withSuggestions are the rules of validation for operators.
func withSuggestions() *rules.Rules {
	all := rules.NewDefaultRules()
	all.AddRule(plainExplorer.Name, plainExplorer.RuleFunc)
	return all
}

// withoutSuggestions returns the validation rules whose errors do not suggest similar names; gqlgen itself replaces the rules on
// fields and leaves.
func withoutSuggestions() *rules.Rules {
	all := withSuggestions()
	all.ReplaceRule(rules.KnownArgumentNamesRule.Name, rules.KnownArgumentNamesRuleWithoutSuggestions.RuleFunc)
	all.ReplaceRule(rules.KnownTypeNamesRule.Name, rules.KnownTypeNamesRuleWithoutSuggestions.RuleFunc)
	all.ReplaceRule(rules.ValuesOfCorrectTypeRule.Name, rules.ValuesOfCorrectTypeRuleWithoutSuggestions.RuleFunc)
	return all
}

// plainExplorer refuses aliases on fields of connections, of their edges, and on edges between entities: there the generated
// explorer chooses the fields to read by their names in the answer. With an alias it would answer with zeros.
var plainExplorer = core.Rule{
	Name: "PlainExplorer",
	RuleFunc: func(observers *core.Events, addError core.AddErrFunc) {
		observers.OnField(func(walker *core.Walker, field *ast.Field) {
			if field.Alias == field.Name || field.Definition == nil || field.ObjectDefinition == nil || strings.HasPrefix(field.Name, "__") {
				return
			}
			holder, held := field.ObjectDefinition, walker.Schema.Types[field.Definition.Type.Name()]
			wraps := strings.HasSuffix(holder.Name, "Connection") || strings.HasSuffix(holder.Name, "Edge")
			leads := slices.Contains(holder.Interfaces, "Node") && held != nil && held.IsCompositeType()
			if wraps || leads {
				addError(core.Message("Field %q of %s cannot have an alias.", field.Name, holder.Name), core.At(field.Position))
			}
		})
	},
}
