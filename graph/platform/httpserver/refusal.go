package httpserver

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"stoa/graph/platform/fault"
	"stoa/graph/platform/web"
)

// refusals are the faults of requests that net/http refuses before a handler sees them, by the status of its answer. Any other
// status means a request that is not valid HTTP/1.1.
var refusals = map[int]fault.Code{
	http.StatusExpectationFailed:           fault.ExpectationFailed,
	http.StatusRequestHeaderFieldsTooLarge: fault.HeaderFieldsTooLarge,
}

// refusalOf is the answer that stands for a refusal by net/http itself.
func refusalOf(written []byte) []byte {
	status := 0
	if _, after, found := bytes.Cut(written, []byte(" ")); found && len(after) >= len("417") {
		status, _ = strconv.Atoi(string(after[:len("417")])) // 0 for what is no status
	}
	if code, known := refusals[status]; known {
		return plainAnswer(fault.New(code))
	}
	return plainAnswer(fault.New(fault.InvalidInput).Say("This is not a valid HTTP/1.1 request."))
}

// plainAnswer is an answer outside of any handler, with the headers that every answer carries. It ends its connection.
func plainAnswer(refused *fault.Error) []byte {
	var a recorded
	web.Headers(a.Header(), nil)
	_ = web.WriteError(&a, refused) // a fault with a fixed text is always JSON
	return a.text()
}

// recorded keeps an answer.
type recorded struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (a *recorded) Header() http.Header {
	if a.header == nil {
		a.header = make(http.Header)
	}
	return a.header
}

// WriteHeader implements http.ResponseWriter.
func (a *recorded) WriteHeader(status int) { a.status = status }

// Write implements http.ResponseWriter.
func (a *recorded) Write(p []byte) (int, error) { return a.body.Write(p) }

// text is the answer as it goes over a connection that ends with it.
func (a *recorded) text() []byte {
	h := a.Header()
	h.Set("Connection", "close")
	h.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	var text bytes.Buffer
	text.WriteString("HTTP/1.1 " + strconv.Itoa(a.status) + " " + http.StatusText(a.status) + "\r\n")
	_ = h.Write(&text) // a buffer takes everything
	text.WriteString("\r\n")
	text.Write(a.body.Bytes())
	return text.Bytes()
}
