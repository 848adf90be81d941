package graphtest

import "testing"

// Nightly skips t with -short: it runs every night.
func Nightly(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs every night")
	}
}
