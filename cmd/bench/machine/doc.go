// Package machine reads from /proc what processes cost and what machine this is. Linux only.
package machine
