package resttest

import (
	"bytes"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// commonHeaders are headers of HTTP itself and of CORS, which no route describes.
var commonHeaders = []string{"Connection", "Content-Length", "Content-Type", "Date", "Transfer-Encoding", "Vary", "Last-Modified"}

// Exchange is a request with its answer.
type Exchange struct {
	Request *http.Request
	// Sent is the body of the request, if known.
	Sent   []byte
	Status int
	Header http.Header
	// Body is the body of the answer, read only if it is JSON.
	Body []byte
}

// Check returns an error for undescribed parts of an exchange, which names route, status and JSON pointer.
func (d *Description) Check(e Exchange) error {
	operation, _ := d.Find(e.Request.Method, e.Request.URL.Path)
	if operation == nil {
		return e.named(e.Request.URL.Path, d.checkMissing(e))
	}
	err := e.check(operation.find("responses"))
	if err == nil && e.Status < http.StatusMultipleChoices {
		err = operation.checkAccepted(e)
	}
	return e.named(operation.Path, err)
}

// checkMissing is Check for a path that the answering process does not serve, described or not.
func (d *Description) checkMissing(e Exchange) error {
	return e.check(d.find("x-every-path", "responses"))
}

func (e Exchange) named(route string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("not as described: %s %s answered %d: %w", e.Request.Method, route, e.Status, err)
}

// check compares the answer with the described response of its status.
func (e Exchange) check(responses place) error {
	described := responses.find(strconv.Itoa(e.Status))
	if described.value == nil {
		return fmt.Errorf("the status is not described; the body was %.300s", e.Body)
	}
	known := slices.Clone(commonHeaders)
	for name := range object(described.value["headers"]) {
		header := described.find("headers", name)
		known = append(known, http.CanonicalHeaderKey(name))
		text := strings.Join(e.Header.Values(name), ", ")
		if text == "" && header.value["required"] != true {
			continue
		}
		if err := header.checkText(text); err != nil {
			return fmt.Errorf("header %s is %q: %w", http.CanonicalHeaderKey(name), text, err)
		}
	}
	for name := range e.Header {
		if !slices.Contains(known, name) && !strings.HasPrefix(name, "Access-Control-") {
			return fmt.Errorf("header %s is not described", name)
		}
	}
	content := object(described.value["content"])
	mediaType, _, err := mime.ParseMediaType(e.Header.Get("Content-Type"))
	switch {
	case len(content) == 0 && len(e.Body) > 0:
		return errors.New("a body is not described")
	case len(content) == 0:
		return nil
	case err != nil || content[mediaType] == nil:
		return fmt.Errorf("Content-Type %q is not described", e.Header.Get("Content-Type"))
	case mediaType != jsonType || described.json().value == nil || e.Request.Method == http.MethodHead:
		return nil
	}
	return described.json().checkJSON(e.Body)
}

// checkAccepted checks that the description allows the query and the body that the server accepted.
func (o *Operation) checkAccepted(e Exchange) error {
	for name, texts := range e.Request.URL.Query() {
		for _, text := range texts {
			if err := o.query(name).checkText(text); err != nil {
				return fmt.Errorf("although the parameter %s was %q: %w", name, text, err)
			}
		}
	}
	if body := o.find("requestBody").json(); body.value != nil && len(e.Sent) > 0 {
		if err := body.checkJSON(e.Sent); err != nil {
			return fmt.Errorf("although the request was %.300s: %w", e.Sent, err)
		}
	}
	return nil
}

// Accepts returns an error if a body does not follow the operation's schema.
func (o *Operation) Accepts(body []byte) error { return o.find("requestBody").json().checkJSON(body) }

// Frame returns an error for undescribed parts of a text frame from the event channel (§6).
func Frame(raw []byte) error {
	frame, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	kind := object(frame)["type"]
	shape, ok := map[any]string{"event": "EventFrame", "acked": "AckedFrame"}[kind]
	if !ok {
		return fmt.Errorf("a frame of type %q is not described", kind)
	}
	if err := Load().check("/components/schemas/"+shape, frame); err != nil {
		return fmt.Errorf("not as described: %.300s: %w", raw, err)
	}
	return nil
}

// Handshake returns an error for undescribed parts of the answer to an event channel handshake; WebSocket clients do not use the
// transport that Main checks.
func Handshake(answer *http.Response) error {
	return Load().Check(Exchange{Request: answer.Request, Status: answer.StatusCode, Header: answer.Header})
}

// Example is an example value of the description.
type Example struct {
	// Value is nil if a required example is missing.
	Value any

	place place
}

// Check checks the example against its schema.
func (e Example) Check() error { return e.place.check(e.Value) }

// Examples returns the examples of the request, under "request", and of the answers, under their status. No example is needed for
// an answer with the shape of another answer, a failure, a body without members or the description itself.
func (o *Operation) Examples() map[string]Example {
	all := make(map[string]Example)
	add := func(name string, at place, needed bool) {
		if value, shown := at.value["example"]; at.value != nil && (shown || needed) {
			all[name] = Example{value, at}
		}
	}
	body := o.find("requestBody")
	add("request", body.json(), body.value["required"] == true)
	responses := object(o.value["responses"])
	for status := range responses {
		repeats := status == "200" && responses["201"] != nil
		add(status, o.find("responses", status).json(), status < "300" && !repeats && o.Path != "/api/v1/openapi.json")
	}
	return all
}
