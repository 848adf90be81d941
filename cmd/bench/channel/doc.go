// Package channel measures the event channel: how soon after its answer a message reaches the recipient's socket, and what an idle
// socket costs.
package channel
