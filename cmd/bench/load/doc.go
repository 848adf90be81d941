// Package load makes requests the way a crowd of agents does, and notes how long each took.
//
// Every caller waits for its answer before it asks again (a closed loop), on a connection of its own that stays open. The client
// costs a few microseconds a request, so that what is measured is the server. A Client belongs to one goroutine.
package load
