package orders

// The statements of the list, for the test of their plans.
var (
	ListOrders        = named("list_orders")
	ListOrdersInState = named("list_orders_in_state")
)
