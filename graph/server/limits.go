package server

// What one request may ask for. The explorer's largest sensible question, several connections of 100 rows with all their
// fields, stays well below.
const (
	// maxBody is the size of a request in bytes: it holds the longest text of a document, every character escaped.
	maxBody = 3 << 20
	// maxTokens is the length of a document.
	maxTokens = 5000
	// maxValues is the number of values in the variables, lists and objects included.
	maxValues = 5000
	// maxFields is the number of fields with every fragment written out where it is spread.
	maxFields = 1000
	// maxDepth is how deep fields nest; the usual introspection query needs 13.
	maxDepth = 16
	// maxFragments is the number of fragments in a document, because validation follows every chain of them from each of its links.
	maxFragments = 50
	// maxRoots is the number of root fields of a query; a mutation has one.
	maxRoots = 20
	// maxDirectives is the number of directives in a document.
	maxDirectives = 50
	// conditionCost is what each value and each nesting of a connection's filter costs: PostgreSQL reads no more than some thousand.
	conditionCost = 10
	// fileCost is what the bytes of a file cost, of which there may be 20 MiB.
	fileCost = maxComplexity / 3
	// maxComplexity bounds the number of values in an answer: see costs.
	maxComplexity = 20_000
	// maxErrors is how many errors of one document are shown.
	maxErrors = 10
)
