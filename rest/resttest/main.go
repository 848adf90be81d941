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
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"stoa/rest/site"
)

// Scope is the set of servers that a package's tests use.
type Scope int

const (
	// API tests also use other kinds of servers, with other paths outside of /api/ and /ws/.
	API Scope = iota
	// Mixed tests also use other kinds of servers; described paths mean the same on all servers.
	Mixed
	// Public tests use public listeners alone.
	Public
	// Complete tests are Public and must see every documented success.
	Complete
)

// Main runs the tests with the check in front of http.DefaultTransport and returns the exit code. The code is also 1 if an answer
// was not as described, or if Complete tests ran in full and never saw a described success.
func Main(m *testing.M, scope Scope) int {
	debug.SetGCPercent(400) // a test program has a small heap; frequent collections would take a quarter of the time
	t := &Transport{Next: http.DefaultTransport, Description: Load(), Scope: scope}
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

// Python returns a Python interpreter with these modules, which are independent implementations. It skips the test if this
// machine has none; make test installs python3-nacl of Debian.
func Python(t testing.TB, modules string) string {
	t.Helper()
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.CommandContext(t.Context(), name, "-c", "import "+modules).Run() == nil {
			return name
		}
	}
	t.Skip("no python3 with " + modules)
	return ""
}

// Transport checks the requests and answers that pass through it.
type Transport struct {
	// Next makes the requests.
	Next http.RoundTripper
	// Description is the description that answers are checked against.
	Description *Description
	// Scope determines which requests are checked.
	Scope Scope

	mu         sync.Mutex
	deviations []string
	// seen holds the answers seen so far, each as the id of its operation and a status.
	seen map[string]bool
}

// RoundTrip makes a request. An answer that is not as described is closed and becomes an error.
func (t *Transport) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := t.Next.RoundTrip(request)
	if err != nil || !t.concerns(request) {
		return answer, err
	}
	e := Exchange{Request: request, Sent: sentBody(request), Status: answer.StatusCode, Header: answer.Header}
	if media, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); media == jsonType {
		raw, err := io.ReadAll(answer.Body)
		if err != nil {
			answer.Body = struct {
				io.Reader
				io.Closer
			}{io.MultiReader(bytes.NewReader(raw), iotest.ErrReader(err)), answer.Body}
			return answer, nil // the reader of the body gets the error
		}
		_ = answer.Body.Close() // it was read to its end
		e.Body, answer.Body = raw, io.NopCloser(bytes.NewReader(raw))
	}
	err = t.Description.Check(e)
	if err != nil && t.Scope == Mixed && e.Status == http.StatusNotFound {
		err = t.Description.checkMissing(e) // the process lacks the role for the path
	}
	if err != nil {
		return nil, errors.Join(t.deviated(err), answer.Body.Close())
	}
	t.count(e)
	return answer, nil
}

// concerns reports whether a request is checked. Pages for people are not described, so they are not checked.
func (t *Transport) concerns(request *http.Request) bool {
	path := request.URL.Path
	if strings.HasPrefix(path, "/owner/") || site.Under(path) {
		return false
	}
	_, known := t.Description.Find(request.Method, path)
	return t.Scope >= Public || (known && t.Scope == Mixed) || strings.HasPrefix(path, "/api/") || strings.HasPrefix(path, "/ws/")
}

func (t *Transport) deviated(err error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.deviations = append(t.deviations, err.Error())
	return err
}

func (t *Transport) count(e Exchange) {
	operation, _ := t.Description.Find(e.Request.Method, e.Request.URL.Path)
	if operation == nil || e.Request.Method == http.MethodHead {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil {
		t.seen = make(map[string]bool)
	}
	t.seen[operation.ID+" "+strconv.Itoa(e.Status)] = true
}

// sentBody reads the body of a request again, if possible.
func sentBody(request *http.Request) []byte {
	if request.GetBody == nil {
		return nil
	}
	body, err := request.GetBody()
	if err != nil {
		return nil
	}
	defer body.Close()
	raw, _ := io.ReadAll(body) // it is in memory
	return raw
}
