package resttest

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing/iotest"

	"stoa/rest/site"
)

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
		err = t.Description.CheckMissing(e) // a process without the role for the path
	}
	if err != nil {
		return nil, errors.Join(t.deviated(err), answer.Body.Close())
	}
	t.count(e)
	return answer, nil
}

// concerns reports whether a request is checked. Pages for people are not described, so they are not.
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
