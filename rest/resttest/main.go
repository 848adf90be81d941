package resttest

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"testing"
)

// Scope is the set of servers that the tests of a package talk to.
type Scope int

const (
	// API tests also talk to servers of other kinds, which have other paths outside of /api/ and /ws/.
	API Scope = iota
	// Mixed tests also talk to servers of other kinds; the paths that are described mean the same on all of them.
	Mixed
	// Public tests talk to public listeners alone.
	Public
	// Complete tests are Public and have to see every documented success.
	Complete
)

// Main runs the tests with the check in front of http.DefaultTransport and returns the exit code: 1 also if an answer was not as
// described, or where Complete tests ran in full and something described was never answered.
func Main(m *testing.M, scope Scope) int {
	description, err := Load()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rest/openapi.yaml:", err)
		return 1
	}
	debug.SetGCPercent(400) // a test program holds little, and would collect it for a quarter of its time
	t := &Transport{Next: http.DefaultTransport, Description: description, Scope: scope}
	http.DefaultTransport = t
	code := m.Run()
	complaints := t.deviations
	if code == 0 && scope == Complete && whole() {
		complaints = append(complaints, t.unseen()...)
	}
	if len(complaints) == 0 {
		return code
	}
	for _, complaint := range complaints {
		fmt.Fprintln(os.Stderr, complaint)
	}
	return max(code, 1)
}

// whole reports whether the flags let all tests of the package run.
func whole() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list", "test.bench", "test.fuzz"} {
		if f := flag.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}

// unseen lists the described successes that no test got.
func (t *Transport) unseen() []string {
	var missing []string
	for _, o := range t.Description.Operations {
		for status := range o.responses {
			if status >= http.StatusOK && status < http.StatusMultipleChoices && t.seen[Answered{o.ID, status}] == 0 {
				missing = append(missing, fmt.Sprintf("%s %s: no test of this package got the described %d", o.Method, o.Path, status))
			}
		}
	}
	slices.Sort(missing)
	return missing
}
