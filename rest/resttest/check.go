package resttest

import (
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
)

// carried are headers of HTTP itself and of CORS, which no route describes.
var carried = []string{"Connection", "Content-Length", "Content-Type", "Date", "Transfer-Encoding", "Vary", "Last-Modified"}

// Exchange is a request with its answer.
type Exchange struct {
	Request *http.Request
	// Sent is the body of the request where it is known.
	Sent   []byte
	Status int
	Header http.Header
	// Body of the answer, read only where it is JSON.
	Body []byte
}

// Find returns the operation that a request asks for, and whether its path is described at all. HEAD is GET.
func (d *Description) Find(method, path string) (operation *Operation, known bool) {
	if method == http.MethodHead {
		method = http.MethodGet
	}
	var found *Operation
	segments := strings.Split(path, "/")
	for _, o := range d.Operations {
		if !o.matches(segments) || (found != nil && found.literals() > o.literals()) {
			continue
		}
		if found == nil || found.literals() < o.literals() {
			found, operation = o, nil
		}
		if o.Method == method {
			operation = o
		}
	}
	return operation, found != nil
}

func (o *Operation) matches(segments []string) bool {
	return slices.EqualFunc(o.segments, segments, func(own, sent string) bool {
		return own == sent || (strings.HasPrefix(own, "{") && sent != "")
	})
}

// literals counts the segments that are not parameters: the path with more of them is meant.
func (o *Operation) literals() int {
	return len(o.segments) - strings.Count(o.Path, "{")
}

// Check returns the parts of an exchange that are not described; the error names route, status and JSON pointer.
func (d *Description) Check(e Exchange) error {
	route := e.Request.URL.Path
	operation, _ := d.Find(e.Request.Method, route)
	responses := d.everyPath
	if operation != nil {
		route, responses = operation.Path, operation.responses
	}
	err := e.check(responses)
	if err == nil && operation != nil && e.Status < http.StatusMultipleChoices {
		err = operation.checkAccepted(e)
	}
	if err != nil {
		return fmt.Errorf("not as described: %s %s answered %d: %w", e.Request.Method, route, e.Status, err)
	}
	return nil
}

// CheckMissing is Check for a path that the answering process does not serve, described or not.
func (d *Description) CheckMissing(e Exchange) error { return e.check(d.everyPath) }

func (e Exchange) check(responses map[int]*response) error {
	described, ok := responses[e.Status]
	if !ok {
		return fmt.Errorf("the status is not described; the body was %.300s", e.Body)
	}
	if err := described.checkHeaders(e.Header); err != nil {
		return err
	}
	return described.checkBody(e)
}

func (r *response) checkHeaders(sent http.Header) error {
	for name, described := range r.headers {
		text := strings.Join(sent.Values(name), ", ")
		if text == "" && !described.required {
			continue
		}
		if err := described.schema.checkText(text); err != nil {
			return fmt.Errorf("header %s is %q: %w", name, text, err)
		}
	}
	for name := range sent {
		if r.headers[name] == nil && !slices.Contains(carried, name) && !strings.HasPrefix(name, "Access-Control-") {
			return fmt.Errorf("header %s is not described", name)
		}
	}
	return nil
}

func (r *response) checkBody(e Exchange) error {
	mediaType, _, err := mime.ParseMediaType(e.Header.Get("Content-Type"))
	if len(r.content) == 0 {
		if len(e.Body) > 0 {
			return errors.New("a body is not described")
		}
		return nil
	}
	shape, ok := r.content[mediaType]
	if err != nil || !ok {
		return fmt.Errorf("Content-Type %q is not described", e.Header.Get("Content-Type"))
	}
	if e.Request.Method == http.MethodHead || shape == nil || mediaType != jsonType {
		return nil
	}
	return shape.checkJSON(e.Body)
}

// checkAccepted holds what the server took against what the description says it takes.
func (o *Operation) checkAccepted(e Exchange) error {
	query := e.Request.URL.Query()
	for name, shape := range o.query {
		for _, text := range query[name] {
			if err := shape.checkText(text); err != nil {
				return fmt.Errorf("although the parameter %s was %q: %w", name, text, err)
			}
		}
	}
	shape := o.body[jsonType]
	if shape == nil || len(e.Sent) == 0 {
		return nil
	}
	if err := shape.checkJSON(e.Sent); err != nil {
		return fmt.Errorf("although the request was %.300s: %w", e.Sent, err)
	}
	return nil
}

// Accepts returns an error if a body does not follow the operation's schema.
func (o *Operation) Accepts(body []byte) error { return o.body[jsonType].checkJSON(body) }

const jsonType = "application/json"
