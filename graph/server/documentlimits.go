package server

import (
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"

	"stoa/graph/platform/fault"
)

// shape is what a document asks for, as far as admission has to know.
type shape struct {
	mutating    bool
	introspects bool
}

// extent is how much a selection is once every fragment is written out where it is spread.
type extent struct {
	roots, fields, depth int
}

// ruler measures a document without following anything twice, so that fragments that double with every step, or spread
// themselves, cost nothing.
type ruler struct {
	fragments   map[string]extent
	definitions ast.FragmentDefinitionList
	directives  int
	introspects bool
	numbers     bool
	// halved is whether a string holds a sign that stands for half of a surrogate pair.
	halved bool
}

// surrogate is the escape of half a pair. The parser makes U+FFFD of each half, which would be stored in the place of what was sent.
var surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)

// measure reads a document and refuses, with invalid_input, one that cannot be parsed or is over the limits. What the schema
// makes of it is the executor's to find out.
func measure(query, operationName string) (shape, error) {
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, maxTokens)
	if err != nil {
		return shape{}, fault.New(fault.InvalidInput).Say("The query cannot be read: " + err.Error() + ".")
	}
	if len(document.Fragments) > maxFragments {
		return shape{}, tooMuch("The query must have at most " + strconv.Itoa(maxFragments) + " fragments")
	}
	asked := document.Operations.ForName(operationName)
	if asked == nil {
		return shape{}, fault.Field(fault.InvalidInput, "operationName", "must name one of the operations of the query")
	}
	is := shape{mutating: asked.Operation == ast.Mutation}
	r := ruler{fragments: make(map[string]extent), definitions: document.Fragments, numbers: true}
	var whole extent
	for _, operation := range document.Operations {
		for _, variable := range operation.VariableDefinitions {
			r.value(variable.DefaultValue)
			r.direct(variable.Directives)
		}
		r.direct(operation.Directives)
		size := r.selection(operation.SelectionSet)
		whole.fields = min(whole.fields+size.fields, maxFields+1)
		whole.depth = max(whole.depth, size.depth)
		whole.roots = max(whole.roots, size.roots)
		if operation.Operation == ast.Mutation && size.roots != 1 {
			return is, tooMuch("A mutation must have exactly one root field")
		}
	}
	for _, fragment := range document.Fragments { // those that nothing spreads are validated too
		whole.depth = max(whole.depth, r.spread(fragment.Name).depth)
	}
	is.introspects = r.introspects
	if r.halved && surrogate.MatchString(query) {
		return is, tooMuch("The query escapes half a surrogate pair, which is not read here: send the character itself, or a variable")
	}
	return is, r.judge(whole)
}

func (r *ruler) judge(whole extent) error {
	for _, bound := range []struct {
		broken bool
		reason string
	}{
		{whole.fields > maxFields, "The query must have at most " + strconv.Itoa(maxFields) + " fields"},
		{whole.depth > maxDepth, "The fields of the query must nest at most " + strconv.Itoa(maxDepth) + " deep"},
		{whole.roots > maxRoots, "The query must have at most " + strconv.Itoa(maxRoots) + " root fields"},
		{r.directives > maxDirectives, "The query must have at most " + strconv.Itoa(maxDirectives) + " directives"},
		{!r.numbers, "A number in the query is out of range"},
	} {
		if bound.broken {
			return tooMuch(bound.reason)
		}
	}
	return nil
}

func tooMuch(reason string) error { return fault.New(fault.InvalidInput).Say(reason + ".") }

func (r *ruler) selection(set ast.SelectionSet) extent {
	var sum extent
	for _, selection := range set {
		part := r.part(selection)
		sum.roots = min(sum.roots+part.roots, maxFields+1)
		sum.fields = min(sum.fields+part.fields, maxFields+1)
		sum.depth = max(sum.depth, part.depth)
	}
	return sum
}

func (r *ruler) part(selection ast.Selection) extent {
	switch s := selection.(type) {
	case *ast.Field:
		r.introspects = r.introspects || s.Name == "__schema" || s.Name == "__type"
		r.direct(s.Directives)
		r.arguments(s.Arguments)
		inner := r.selection(s.SelectionSet)
		return extent{roots: 1, fields: inner.fields + 1, depth: inner.depth + 1}
	case *ast.InlineFragment:
		r.direct(s.Directives)
		return r.selection(s.SelectionSet)
	case *ast.FragmentSpread:
		r.direct(s.Directives)
		return r.spread(s.Name)
	default:
		return extent{}
	}
}

// spread measures a fragment once. One that spreads itself counts as nothing there; the executor refuses it.
func (r *ruler) spread(name string) extent {
	if known, ok := r.fragments[name]; ok {
		return known
	}
	r.fragments[name] = extent{}
	if definition := r.definitions.ForName(name); definition != nil {
		r.direct(definition.Directives)
		r.fragments[name] = r.selection(definition.SelectionSet)
	}
	return r.fragments[name]
}

func (r *ruler) direct(directives ast.DirectiveList) {
	r.directives += len(directives)
	for _, directive := range directives {
		r.arguments(directive.Arguments)
	}
}

func (r *ruler) arguments(arguments ast.ArgumentList) {
	for _, argument := range arguments {
		r.value(argument.Value)
	}
}

// value notes a number that Go cannot hold, which the executor would not survive.
func (r *ruler) value(v *ast.Value) {
	if v == nil {
		return
	}
	var err error
	switch v.Kind {
	case ast.StringValue:
		r.halved = r.halved || strings.ContainsRune(v.Raw, utf8.RuneError)
	case ast.IntValue:
		_, err = strconv.ParseInt(v.Raw, 10, 64)
	case ast.FloatValue:
		_, err = strconv.ParseFloat(v.Raw, 64)
	}
	r.numbers = r.numbers && err == nil
	for _, child := range v.Children {
		r.value(child.Value)
	}
}
