package jobs

import "time"

// StartPolling is Start with another interval between polls.
var StartPolling = start

// Ahead is a clock that says that the database's is that far ahead of the host's.
func Ahead(ahead time.Duration) *Clock {
	c := new(Clock)
	c.compared.Store(&comparison{time.Now(), ahead})
	return c
}

// Kinds are the kinds of the table.
func Kinds() []string {
	kinds := make([]string, len(table))
	for i, row := range table {
		kinds[i] = row.kind
	}
	return kinds
}
