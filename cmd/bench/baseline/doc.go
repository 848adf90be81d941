// Package baseline does the server's hot operations by hand: each is one prepared statement over lib/pq, mostly one function in the
// schema bench (sql/). They are what the server is measured against, in two ways: called directly, as bare SQL, and by
// a minimal HTTP server that writes its JSON by hand. Tables and rows are the server's own, so all three do the same logical work on
// the same data; what a rival leaves out (headers, request ids, faults with texts, GraphQL, sockets) is what a server adds.
package baseline
