package orders

// ListStatements are those of the list of orders, for tests that look at their plans.
var (
	ListAll     = listAll
	ListInState = listInState
)
