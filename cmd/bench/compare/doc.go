// Package compare measures contestants against each other: the server, the minimal server and bare SQL take turns on one database,
// round after round and in another order each time, so that whatever else the machine does meets all of them alike. What counts
// is therefore the ratio within a round; absolute figures are those of a busy machine.
package compare
