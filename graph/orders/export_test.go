package orders

// ListOrders is the statement of the list, for the test that looks at its plans.
var ListOrders = listOrders
