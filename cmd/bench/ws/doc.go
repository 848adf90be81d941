// Package ws measures the event channel: how soon after its answer a message reaches the recipient's socket, and what
// sockets cost that are idle or acknowledge nothing.
package ws
