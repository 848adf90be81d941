// Package resttest checks every answer that a test sees from a public listener against rest/openapi.yaml (§9), except the pages
// for people.
//
// TestMain calls Main, which puts the check into http.DefaultTransport, the transport of the tests' clients. A status, an error
// code, a header or a member that is not described becomes the error of that request, with route, status and JSON pointer. It
// fails the test binary even if a test takes the error for a lost connection. The body of an accepted request is checked against
// its schema, too. Answers are counted, so that a package can prove that its tests saw every described success.
//
// The description is read once a process. Everything is safe for concurrent use.
package resttest

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"testing"
)

// Scope is the set of servers that the tests of a package talk to.
type Scope int

const (
	// API tests also talk to other kinds of servers, with other paths outside of /api/ and /ws/.
	API Scope = iota
	// Mixed tests also talk to other kinds of servers; described paths mean the same on all of them.
	Mixed
	// Public tests talk to public listeners alone.
	Public
	// Complete tests are Public and must see every documented success.
	Complete
)

// Main runs the tests with the check in front of http.DefaultTransport and returns the exit code. The code is also 1 if an answer
// was not as described, or if Complete tests ran in full and never saw a described success.
func Main(m *testing.M, scope Scope) int {
	description, err := Load()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rest/openapi.yaml:", err)
		return 1
	}
	debug.SetGCPercent(400) // a test program has a small heap; collecting it would take a quarter of the time
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

// unseen lists the described successes that no test has seen.
func (t *Transport) unseen() []string {
	var missing []string
	for _, o := range t.Description.Operations {
		for status := range object(o.value["responses"]) {
			if status >= "200" && status < "300" && !t.seen[o.ID+" "+status] {
				missing = append(missing, fmt.Sprintf("%s %s: no test of this package got the described %s", o.Method, o.Path, status))
			}
		}
	}
	slices.Sort(missing)
	return missing
}

// PythonWithNaCl returns a Python with PyNaCl, an independent implementation of message encryption. It skips the test if this
// machine has none; make test installs one.
func PythonWithNaCl(t testing.TB) string {
	t.Helper()
	return pythonWith(t, "import nacl.public", "PyNaCl (Debian: python3-nacl)")
}

// PythonWithJWT returns a Python with PyJWT, an independent reader of receipts. It skips the test if this machine has none; make
// test installs one.
func PythonWithJWT(t testing.TB) string {
	t.Helper()
	return pythonWith(t, "import jwt, cryptography", "PyJWT (Debian: python3-jwt, python3-cryptography)")
}

func pythonWith(t testing.TB, imports, missing string) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), name, "-c", imports).Run() == nil {
			return name
		}
	}
	t.Skip("no python3 with " + missing)
	return ""
}
