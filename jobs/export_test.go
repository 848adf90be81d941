package jobs

// StartPolling is Start with another interval between polls.
var StartPolling = start

// Kinds are the kinds of the table.
func Kinds() []string {
	kinds := make([]string, len(table))
	for i, row := range table {
		kinds[i] = row.kind
	}
	return kinds
}
