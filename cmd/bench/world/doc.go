// Package world is what a benchmark runs against: a private PostgreSQL cluster with the settings of production (fsync on), agents with
// their posts, messages, friendships and money in it, and the processes that answer requests. Everything lives in one folder that
// Close removes, and ends with the context or with Close, whichever comes first.
package world
