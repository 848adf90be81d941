// Package prepared opens lib/pq connections that cache the statements they have
// prepared, so that PostgreSQL parses and plans a statement once a connection
// and not once a call. Callers (ent, River, goose, hand-written SQL) use
// database/sql as ever and see lib/pq's own values and errors.
//
// # Which statements are cached
//
// A SELECT, INSERT, UPDATE, DELETE, MERGE, VALUES, TABLE or WITH that has
// arguments is prepared under a name at its first use on a connection and cached
// by its SQL text, at most [CacheSize] of them, the least recently used closed
// first. Everything else goes straight to lib/pq: statements without arguments
// (one round trip already), utility statements, and those that begin with
// [PlanPerValue], whose plan must be made for the values of each call.
//
// # Invariants
//
//   - A cached statement never outlives its connection, and a connection never
//     holds more than the bound.
//   - Nothing is sent while a result or a COPY is still being read: such a call
//     fails, and the connection stays in step with the server.
//   - A connection on which a statement was cancelled leaves the pool, as with
//     plain lib/pq.
//
// # Concurrency
//
// A connection belongs to one goroutine at a time (database/sql sees to it).
// Connections of one connector share two atomics: the [Clock] and the epoch.
//
// # Failure
//
// A migration can make a cached statement unfit: its result or the types of its
// parameters changed. PostgreSQL says so before it runs anything. The statement
// is then closed, and where the whole schema is in doubt the epoch is raised,
// which makes every connection prepare anew at the next use. Outside a
// transaction the call is repeated, unseen, which cures it unless a further
// migration strikes each of three attempts. Then, and at once inside a
// transaction (which has failed), the caller gets an error for which [Stale]
// holds: roll back and run it again.
//
// Not noticed is a column whose new type silently accepts a parameter of the
// old type and reads it otherwise (timestamp to timestamptz); the pool's
// ConnMaxLifetime bounds how long such a statement lives.
//
// A lost connection is driver.ErrBadConn exactly where lib/pq says so. A server
// that hangs counts as lost half a second after the statement_timeout of the
// session, or after the deadline of the call's context where that is earlier:
// the call fails with the *net.OpError of the read, and the connection leaves
// the pool. The same bounds hold for connecting, BEGIN and COMMIT.
package prepared
