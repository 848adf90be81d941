package orders

// The statements of the list, for the test that looks at their plans.
var (
	ListOrders        = listOrders
	ListOrdersInState = listOrdersInState
)
