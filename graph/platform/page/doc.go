// Package page is the arithmetic of lists: numbered pages and cursors (contract §1, paging; §12, profiles).
//
// Both read one row more than they show: the extra row only tells that the list goes on, so nothing is ever counted.
// Every function is pure and safe for concurrent use. A bad parameter comes back as *Error; which fault code carries it
// (`invalid_pagination`, for the wallet's history `invalid_input`) is the domain's choice.
package page
