package server

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/lexer"
	"github.com/vektah/gqlparser/v2/parser"

	"stoa/graph/operator"
	"stoa/graph/platform/bounds"
	"stoa/graph/platform/fault"
	"stoa/graph/platform/page"
)

// The limits of one request. The largest sensible query of the explorer, several connections of 100 rows with all their fields,
// stays well below.
const (
	// maxBody is the size of a request in bytes: it holds the longest text of a document, every character escaped.
	maxBody = 3 << 20
	// maxTokens is the length of a document.
	maxTokens = 5000
	// maxValues is the number of values in the variables, lists and objects included.
	maxValues = 5000
	// maxFields is the number of fields after every fragment is expanded at each spread.
	maxFields = 1000
	// maxDepth is how deep fields nest; the usual introspection query needs 13.
	maxDepth = 16
	// maxFragments is the number of fragments in a document: validation follows every chain of fragments from each of its links.
	maxFragments = 50
	// maxRoots is the number of root fields of a query; a mutation has one.
	maxRoots = 20
	// maxDirectives is the number of directives in a document.
	maxDirectives = 50
	// conditionCost is the cost of each value and each nesting of a connection's filter: PostgreSQL accepts only some thousand.
	conditionCost = 10
	// fileCost is the cost of a field with the bytes of a file, up to 20 MiB.
	fileCost = maxComplexity / 3
	// maxComplexity bounds the number of values in an answer: see priced.
	maxComplexity = 20_000
	// maxErrors is how many errors of one document are shown.
	maxErrors = 10
)

// documentInfo holds the properties of a document that are needed before its caller is authenticated.
type documentInfo struct {
	mutating    bool
	introspects bool
}

// size is the size of a selection after every fragment is expanded at each spread.
type size struct {
	roots, fields, depth int
}

// measurer measures a document. It measures each fragment once, so fragments that double at each step or spread themselves cost
// nothing.
type measurer struct {
	fragments   map[string]size
	definitions ast.FragmentDefinitionList
	introspects bool
}

// surrogate matches the escape of half a surrogate pair. The parser turns each half into U+FFFD and so would change the stored
// text.
var surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F][0-9a-fA-F]{2}`)

// examineDocument parses a document. It returns invalid_input if the document cannot be parsed or is over the limits. The
// executor validates it against the schema.
func examineDocument(query, operationName string) (documentInfo, error) {
	document, err := parser.ParseQueryWithTokenLimit(&ast.Source{Input: query}, maxTokens)
	if err != nil {
		return documentInfo{}, fault.New(fault.InvalidInput).Say("The query cannot be read: " + err.Error() + ".")
	}
	if len(document.Fragments) > maxFragments {
		return documentInfo{}, overLimit("The query must have at most " + strconv.Itoa(maxFragments) + " fragments")
	}
	operation := document.Operations.ForName(operationName)
	if operation == nil {
		return documentInfo{}, fault.Field(fault.InvalidInput, "operationName", "must name one of the operations of the query")
	}
	info := documentInfo{mutating: operation.Operation == ast.Mutation}
	r := measurer{fragments: make(map[string]size), definitions: document.Fragments}
	var whole size
	for _, operation := range document.Operations {
		s := r.selection(operation.SelectionSet)
		whole.fields = min(whole.fields+s.fields, maxFields+1)
		whole.depth = max(whole.depth, s.depth)
		whole.roots = max(whole.roots, s.roots)
		if operation.Operation == ast.Mutation && s.roots != 1 {
			return info, overLimit("A mutation must have exactly one root field")
		}
	}
	for _, fragment := range document.Fragments { // fragments that nothing spreads are validated too
		whole.depth = max(whole.depth, r.spread(fragment.Name).depth)
	}
	info.introspects = r.introspects
	for _, bound := range []struct {
		broken bool
		reason string
	}{
		{whole.fields > maxFields, "The query must have at most " + strconv.Itoa(maxFields) + " fields"},
		{whole.depth > maxDepth, "The fields of the query must nest at most " + strconv.Itoa(maxDepth) + " deep"},
		{whole.roots > maxRoots, "The query must have at most " + strconv.Itoa(maxRoots) + " root fields"},
	} {
		if bound.broken {
			return info, overLimit(bound.reason)
		}
	}
	return info, checkTokens(query)
}

func overLimit(reason string) error { return fault.New(fault.InvalidInput).Say(reason + ".") }

// checkTokens bounds the directives of a document that was parsed, and refuses numbers that Go cannot hold, on which the executor
// would panic, and strings that hold U+FFFD, which the parser writes for half a surrogate pair.
func checkTokens(query string) error {
	tokens, directives := lexer.New(&ast.Source{Input: query}), 0
	for {
		token, err := tokens.ReadToken()
		switch token.Kind {
		case lexer.EOF, lexer.Invalid:
			return err
		case lexer.At:
			if directives++; directives > maxDirectives {
				return overLimit("The query must have at most " + strconv.Itoa(maxDirectives) + " directives")
			}
		case lexer.Int:
			_, err = strconv.ParseInt(token.Value, 10, 64)
		case lexer.Float:
			_, err = strconv.ParseFloat(token.Value, 64)
		case lexer.String:
			if strings.ContainsRune(token.Value, utf8.RuneError) && surrogate.MatchString(query) {
				return overLimit("The query escapes half a surrogate pair, which is not read here: send the character itself, or a variable")
			}
		}
		if err != nil {
			return overLimit("A number in the query is out of range")
		}
	}
}

func (r *measurer) selection(set ast.SelectionSet) (sum size) {
	for _, selection := range set {
		var part size
		switch s := selection.(type) {
		case *ast.Field:
			r.introspects = r.introspects || s.Name == "__schema" || s.Name == "__type"
			inner := r.selection(s.SelectionSet)
			part = size{roots: 1, fields: inner.fields + 1, depth: inner.depth + 1}
		case *ast.InlineFragment:
			part = r.selection(s.SelectionSet)
		case *ast.FragmentSpread:
			part = r.spread(s.Name)
		}
		sum = size{min(sum.roots+part.roots, maxFields+1), min(sum.fields+part.fields, maxFields+1), max(sum.depth, part.depth)}
	}
	return sum
}

// spread measures a fragment once. A fragment inside itself counts as empty; the executor refuses such a document.
func (r *measurer) spread(name string) size {
	if known, ok := r.fragments[name]; ok {
		return known
	}
	r.fragments[name] = size{}
	if definition := r.definitions.ForName(name); definition != nil {
		r.fragments[name] = r.selection(definition.SelectionSet)
	}
	return r.fragments[name]
}

// rows maps fields that are lists to the maximum number of their rows. Connections state it in their arguments.
var rows = map[string]int{
	"Query.myContacts": page.CursorSize, "Query.dialog": page.CursorSize, "Query.walletHistory": page.HistoryMaxLimit,
	"Query.myOrders": page.MaxSize, "Query.feed": page.MaxSize, "Query.searchBots": page.MaxSize, "Query.serviceCatalogue": page.MaxSize,
	"Query.taskBoard": page.MaxSize, "Query.listOwnResponses": page.CursorSize, "Query.taskResponses": page.CursorSize,
	"Query.ownFeedback": page.CursorSize, "BotResult.posts": page.MaxSize, "PostCard.attachments": bounds.Files,
	"OrderCard.inputAttachments": bounds.Files, "OrderCard.resultAttachments": bounds.Files,
	"OrderReview.inputAttachments": bounds.Files, "OrderReview.resultAttachments": bounds.Files, "PostReview.attachments": bounds.Files,
}

// priced is the schema with the cost of each field. A list costs the fields of one row times the maximum number of its rows, the
// bytes of a file cost fileCost, each condition of a filter costs conditionCost, and every other field costs one.
type priced struct{ graphql.ExecutableSchema }

// Complexity returns false for a field that costs one besides its own fields.
func (s priced) Complexity(_ context.Context, holder, field string, child int, arguments map[string]any) (int, bool) {
	name := holder + "." + field
	switch most := rows[name]; {
	case most > 0:
		return child * most, true
	case name == "Query.nodes":
		return child * conditions(arguments["ids"]), true
	case field == "file" && strings.HasSuffix(holder, "Review"):
		return fileCost, true
	case s.connects(holder, field):
		return child*rowsOf(arguments) + conditionCost*(conditions(arguments["orderBy"])+conditions(arguments["where"])), true
	}
	return 0, false
}

// connects reports whether a field is a connection.
func (s priced) connects(holder, field string) bool {
	definition := s.Schema().Types[holder].Fields.ForName(field)
	return definition != nil && definition.Arguments.ForName("first") != nil && definition.Arguments.ForName("last") != nil
}

// rowsOf is how many rows a page of a connection may have.
func rowsOf(arguments map[string]any) int {
	for _, name := range []string{"first", "last"} {
		if asked := arguments[name]; asked != nil {
			number, err := graphql.UnmarshalInt(asked)
			if err != nil {
				return operator.MaxPage // the executor refuses it
			}
			return min(max(number, 1), operator.MaxPage)
		}
	}
	return operator.DefaultPage
}

// conditions counts the values and the nestings of an argument, including those from variables.
func conditions(v any) int {
	sum := 0
	switch v := v.(type) {
	case nil:
	case map[string]any:
		sum = 1
		for _, inner := range v {
			sum += conditions(inner)
		}
	case []any:
		for _, inner := range v {
			sum += max(1, conditions(inner))
		}
	default:
		sum = 1
	}
	return sum
}
