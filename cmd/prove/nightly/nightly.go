// Package nightly marks the tests of the proof that run every night and not at every change.
package nightly

import "testing"

// Skip skips t with -short.
func Skip(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("it runs every night")
	}
}
