package graphtest

import (
	"flag"
	"strconv"
	"testing"
)

// Nightly skips t with -short: it runs every night.
func Nightly(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("runs every night")
	}
}

// Checks makes rapid draw full histories a property, and a fifth of them with -short, unless -rapid.checks says otherwise. TestMain
// calls it before the tests if each history is many statements.
func Checks(full int) {
	if err := flag.Set("rapid.checks", strconv.Itoa(full)); err != nil {
		panic(err)
	}
}
